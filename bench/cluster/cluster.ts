/**
 * Temporal as run by `docker-compose.temporal.yml`: the full server on its own Postgres, with the tables and the namespace created by
 * that file's commands.
 */
import { randomInt } from 'node:crypto';
import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Connection } from '@temporalio/client';
import { runChild } from '../../src/embedded/child.ts';
import { openDataDir } from '../../src/embedded/data-dir.ts';
import { freePort } from '../../src/embedded/ports.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { startService } from '../../src/embedded/service.ts';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import type { Shutdown } from '../../src/lib/shutdown.ts';
import { postmasterPid } from '../postmaster-pid.ts';
import { type ComposeService, composeTemporal, dynamicConfigFile } from './compose.ts';
import { serverPrograms } from './programs.ts';

/** A running Temporal. */
export interface Engine {
  /** `host:port` of the gRPC frontend. */
  readonly address: string;
  /** Name → process id. */
  readonly processes: Readonly<Record<'temporal', number> & Record<string, number>>;
}

/** The time-out of each command that prepares the cluster, in milliseconds. */
const COMMAND_MS = 120_000;
const READY_MS = 120_000;
const STOP_MS = 30_000;
const PROBE_MS = 2_000;
/** The ports that the server listens on, by the variables that set them. */
const PORTS = [
  'FRONTEND_GRPC_PORT',
  'FRONTEND_HTTP_PORT',
  'FRONTEND_MEMBERSHIP_PORT',
  'MATCHING_GRPC_PORT',
  'MATCHING_MEMBERSHIP_PORT',
  'HISTORY_GRPC_PORT',
  'HISTORY_MEMBERSHIP_PORT',
  'WORKER_GRPC_PORT',
  'WORKER_MEMBERSHIP_PORT',
] as const;

/** The `max_connections` of the file's Postgres. */
const MAX_CONNECTIONS = 400;

/** Its tables store a port in two signed bytes. */
const HIGHEST_PORT = 32_767;
const LOWEST_PORT = 10_000;

/** A free port that the server can store. */
async function serverPort(): Promise<number> {
  for (;;) {
    const port = await freePort(randomInt(LOWEST_PORT, HIGHEST_PORT + 1));
    if (port <= HIGHEST_PORT) return port;
  }
}

async function answers(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: PROBE_MS });
  await connection.close();
  return true;
}

/**
 * Starts a cluster.
 * @param directory a directory that the user of its Postgres can enter
 * @param say receives a line of text for each long step
 * @param shutdown receives the functions that stop it
 * @throws Error that says what failed
 */
export async function startCluster(
  directory: string,
  say: (text: string) => void,
  shutdown: Shutdown,
): Promise<Engine> {
  const dataDir = await openDataDir(join(directory, 'temporal-database'));
  const postgres = await startPostgres(dataDir, say, {
    maxConnections: MAX_CONNECTIONS,
    superuser: true,
  });
  await shutdown.add(() => postgres.stop(), true);
  const postgresPid = await postmasterPid(dataDir);
  const database = new URL(postgres.url);
  const compose = composeTemporal(database.password);
  const programs = await serverPrograms(compose.version, say, shutdown.signal);

  // The commands call their programs by their names in the images.
  const tools = join(directory, 'tools');
  await mkdir(tools);
  await symlink(programs.sqlTool, join(tools, 'temporal-sql-tool'));
  await symlink(await findTemporal({ report: say, signal: shutdown.signal }), join(tools, 'temporal'));
  const path = { PATH: [tools, process.env.PATH].join(delimiter) };
  const prepare = async ({ environment, command: [command = '', ...args] }: ComposeService, at: object) => {
    const env = { ...environment, ...path, ...at };
    await runChild(command, args, { env, signal: shutdown.signal, timeoutMs: COMMAND_MS });
  };

  await prepare(compose.schema, { SQL_HOST: database.hostname, SQL_PORT: database.port });
  const ports = Object.fromEntries(
    await Promise.all(PORTS.map(async (name) => [name, String(await serverPort())] as const)),
  );
  const address = `127.0.0.1:${ports.FRONTEND_GRPC_PORT}`;
  const service = await startService({
    name: 'The Temporal server',
    command: programs.server,
    args: ['start'],
    env: {
      ...compose.server.environment,
      ...ports,
      ...path,
      DB_PORT: database.port,
      POSTGRES_SEEDS: database.hostname,
      BIND_ON_IP: '127.0.0.1',
      DYNAMIC_CONFIG_FILE_PATH: dynamicConfigFile,
    },
    logFile: join(directory, 'temporal.log'),
    ready: () => answers(address),
    readyTimeoutMs: READY_MS,
    stopTimeoutMs: STOP_MS,
    signal: shutdown.signal,
  });
  await shutdown.add(() => service.stop(), true);
  await prepare(compose.namespace, { TEMPORAL_ADDRESS: address });
  const pid = service.pid();
  if (pid === null) throw new Error('The Temporal server stopped at once.');
  return { address, processes: { temporal: pid, 'temporal db': postgresPid } };
}
