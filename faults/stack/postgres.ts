/** The Postgres of a stack: the embedded one, run by the harness. */
import { accessSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDataDir } from '../../src/embedded/data-dir.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { isAlive } from '../../src/embedded/processes.ts';
import type { Part } from '../../test/support/harness/part.ts';
import { freezing, signalTree } from '../../test/support/harness/processes.ts';
import { freePort } from '../../test/support/servers/ports.ts';

/** A running Postgres. */
export interface PostgresPart extends Part {
  /** Its address without any proxy. */
  readonly url: string;
  /** Its data directory. */
  readonly directory: string;
  /** Whether its clock can be set from its next start on, or is the machine's again. */
  readonly clock: { settable: boolean; set(ms: number): Promise<void> };
}

/** The library that gives a program its own clock, at the path of Debian's package. */
const LIBRARY = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketime.so.1`;

/** Whether the clock of a Postgres can be set. */
export function hasSettableClock(): boolean {
  try {
    accessSync(LIBRARY);
    return true;
  } catch {
    return false;
  }
}

/** Creates a cluster in a folder that every user can enter, and starts it. */
export async function startPostgresPart(directory: string): Promise<PostgresPart> {
  const dataDir = await openDataDir(directory);
  await dataDir.write('postgres-port', String(await freePort()));
  const file = join(directory, '..', 'database-clock');
  const shift = (ms: number) => writeFile(file, `${ms < 0 ? '-' : '+'}${Math.abs(ms) / 1_000}`);
  const clock = { settable: false, set: shift };
  const settable = {
    LD_PRELOAD: LIBRARY,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  const env = () => (clock.settable ? settable : {});
  const start = () => startPostgres(dataDir, () => {}, { superuser: true, env, restarts: false });
  let server = await start();
  return {
    url: server.url,
    directory: dataDir.join('postgres'),
    clock,
    async kill() {
      signalTree(server.pid(), 'SIGKILL');
    },
    ...freezing(() => server.pid()),
    stop: () => server.stop(),
    async start() {
      const pid = server.pid();
      if (pid === null || !(await isAlive(pid))) server = await start();
    },
  };
}
