/** The Postgres of a stack: the embedded one, run by the harness. */
import { openDataDir } from '../../src/embedded/data-dir.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { freePort } from '../../test/support/ports.ts';
import type { Part } from './part.ts';
import { signalTree } from './processes.ts';

/** A running Postgres. */
export interface PostgresPart extends Part {
  /** Its address without any proxy. */
  readonly url: string;
  /** Of its data. */
  readonly directory: string;
}

/** Makes a cluster in a folder that every user can enter, and starts it. */
export async function startPostgresPart(directory: string): Promise<PostgresPart> {
  const dataDir = await openDataDir(directory);
  await dataDir.write('postgres-port', String(await freePort()));
  const server = await startPostgres(dataDir, () => {}, { superuser: true });
  const readPid = async () => Number((await dataDir.read('postgres/postmaster.pid'))?.split('\n')[0]);
  let pid = await readPid();
  return {
    name: 'Postgres',
    url: server.url,
    directory: dataDir.join('postgres'),
    async kill() {
      signalTree(pid, 'SIGKILL');
    },
    freeze: () => signalTree(pid, 'SIGSTOP'),
    thaw: () => signalTree(pid, 'SIGCONT'),
    stop: () => server.stop(),
    async start() {
      await server.ensureRunning();
      pid = await readPid();
    },
  };
}
