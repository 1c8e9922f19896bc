/** PgBouncer between Waybill and its Postgres, if it is installed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serverUser } from '../../../src/embedded/postgres-cluster.ts';
import type { Part } from '../harness/part.ts';
import { installedProgram } from '../programs/installed-program.ts';
import { freePort, untilAccepts } from './ports.ts';

/** How long a client keeps a connection to the server. */
export type PoolMode = 'transaction' | 'session';

/** A PgBouncer, started when a round needs it. */
export interface PoolerPart extends Part {
  /** The database's address through it. */
  readonly url: string;
  readonly running: boolean;
}

/** It starts within milliseconds; after this time it counts as hanging. */
const READY_MS = 10_000;

/** Its path; undefined if it is not installed. */
export const findPooler = () => installedProgram('pgbouncer');

/**
 * @param database the server's own address, with its user and password
 * @param folder for its configuration
 */
export async function createPoolerPart(
  mode: PoolMode,
  database: string,
  folder: string,
): Promise<PoolerPart> {
  const server = new URL(database);
  const port = await freePort();
  const file = join(folder, `pgbouncer-${mode}`, 'pgbouncer.ini');
  const user = await serverUser();
  let child: ReturnType<typeof spawn> | undefined;

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    child = undefined;
  }

  return {
    url: Object.assign(new URL(database), { port: String(port) }).href,
    get running() {
      return child !== undefined;
    },
    kill: () => end('SIGKILL'),
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    // End at once, without waiting for the last client to disconnect.
    stop: () => end('SIGTERM'),
    async start() {
      await mkdir(join(folder, `pgbouncer-${mode}`), { recursive: true });
      await writeFile(file, configuration(server, port, mode));
      // It refuses to run as root.
      child = spawn(findPooler() ?? 'pgbouncer', [file], { ...user, stdio: 'ignore' });
      await untilAccepts('PgBouncer', port, READY_MS);
    },
  };
}

/** Only the necessary settings. All others keep their defaults, and no startup parameter is ignored for Waybill. */
function configuration(
  { hostname, port, username, password }: URL,
  listenPort: number,
  mode: PoolMode,
): string {
  const secret = decodeURIComponent(password);
  return [
    '[databases]',
    `* = host=${hostname} port=${port} user=${decodeURIComponent(username)} password='${secret}'`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    'max_client_conn = 500',
    'default_pool_size = 60',
    '',
  ].join('\n');
}
