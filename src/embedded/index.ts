/**
 * The parts that are started here because they are not configured.
 *
 * Module embedded, which imports config, db, lib, temporal. Begin: this file, in the order of a start. It prepares
 * the folder (`data-dir.ts`, `own-files.ts`, `data-dir-lock.ts`), finds the programs (`temporal-binary.ts`,
 * `postgres-cluster.ts`) and starts the servers (`postgres.ts`, `temporal.ts`); `service.ts` watches and stops them.
 */
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Shutdown } from '../lib/shutdown.ts';
import { type DataDir, type Instance, openDataDir } from './data-dir.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { requireOwnFolder } from './own-files.ts';
import { startPostgres } from './postgres.ts';
import { postgresEntry, serverUser } from './postgres-cluster.ts';
import { stopOrphan } from './service.ts';
import { type EmbeddedTemporal, startTemporal, TEMPORAL_STOP_MS } from './temporal.ts';
import { findTemporal } from './temporal-binary.ts';

export type EmbeddedStack = Awaited<ReturnType<typeof startEmbedded>>;

/** The ports at which people expect Temporal; used if they are free. */
const USUAL_PORT = 7233;
const USUAL_UI_PORT = 8233;

/** Starts Temporal on the ports of an earlier start, if they are free; first stops a server left from it. */
async function startTemporalIn(
  dataDir: DataDir,
  program: Promise<string>,
  options: Pick<Parameters<typeof startTemporal>[0], 'signal' | 'whileStarting'>,
  say: (text: string) => void,
): Promise<EmbeddedTemporal> {
  const binary = await program;
  await mkdir(dataDir.join('temporal'), { recursive: true, mode: 0o700 });
  // Resolve symlinks: the orphan check matches this path in the command line.
  const databaseFile = join(await realpath(dataDir.path), 'temporal', 'temporal.db');
  const pidFile = dataDir.join('temporal', 'pid');
  if (await stopOrphan(pidFile, databaseFile, TEMPORAL_STOP_MS))
    say('Stopped the Temporal server that an earlier run left behind.');
  const notedPort = async (name: string) => Number(await dataDir.read(name)) || undefined;
  const temporal = await startTemporal({
    ...options,
    binary,
    databaseFile,
    pidFile,
    logFile: dataDir.join('temporal', 'temporal.log'),
    preferredPort: (await notedPort('temporal-port')) ?? USUAL_PORT,
    preferredUiPort: (await notedPort('temporal-ui-port')) ?? USUAL_UI_PORT,
    onEvent: say,
  });
  await dataDir.write('temporal-port', `${temporal.port}\n`);
  await dataDir.write('temporal-ui-port', `${temporal.uiPort}\n`);
  return temporal;
}

/**
 * Starts the parts that are not configured.
 * @param say receives lines about slow steps
 * @param shutdown receives the steps that stop each part
 * @param check called before any part is started, but after the folder is locked: a second start fails at the lock
 * @param whileStarting a part of the program's own start, called while Temporal starts; may be called again
 * @returns the stack as the program sees it: the addresses of configured parts, and the parts started here
 * @throws UserError with one sentence if the folder is in use, or cannot be used
 */
export async function startEmbedded(
  { settings }: Config,
  say: (text: string) => void,
  shutdown: Shutdown,
  check: () => Promise<void> = async () => {},
  whileStarting?: () => Promise<unknown>,
) {
  const dataDir = await openDataDir(settings.DATA_DIR);
  const needsTemporal = settings.TEMPORAL_ADDRESS === undefined && settings.ROLE !== 'api';
  if (settings.DATABASE_URL === undefined || needsTemporal) {
    await requireOwnFolder(dataDir.path, (await serverUser().catch(() => undefined))?.uid);
    await shutdown.add(await lockDataDir(dataDir), true);
  }
  await check();
  // A missing Postgres is reported first: the search for Temporal may fail for a reason of its own.
  if (settings.DATABASE_URL === undefined) postgresEntry();
  // The search begins first: if Temporal has to be downloaded, that takes longer than all the rest.
  // An aborted search cleans up before this process ends.
  const temporalProgram = needsTemporal
    ? shutdown.starting(findTemporal({ report: say, signal: shutdown.signal }), async () => {}, true)
    : undefined;
  async function startDatabase(): Promise<string> {
    say('Starting the embedded Postgres …');
    const starting = startPostgres(dataDir, say, { signal: shutdown.signal });
    return (await shutdown.starting(starting, ({ stop }) => stop(), true)).url;
  }
  async function startWorkflows(program: Promise<string>): Promise<EmbeddedTemporal> {
    say('Starting the Temporal dev server …');
    const starting = startTemporalIn(dataDir, program, { signal: shutdown.signal, whileStarting }, say);
    return await shutdown.starting(starting, ({ stop }) => stop(), true);
  }
  // They start side by side, as neither needs the other, and stop in reverse, Temporal first.
  const [url, temporal] = await Promise.all([
    settings.DATABASE_URL ?? startDatabase(),
    temporalProgram === undefined ? undefined : startWorkflows(temporalProgram),
  ]);
  const temporalAddress = temporal?.address ?? settings.TEMPORAL_ADDRESS ?? '';
  const temporalUiUrl = temporal?.uiPort == null ? null : `http://127.0.0.1:${temporal.uiPort}`;
  return {
    dataDir,
    databaseUrl: url,
    temporalAddress,
    temporalUiUrl,
    /** Ports of 127.0.0.1 that the embedded Temporal listens on now: some change with a restart. */
    temporalPorts: () => temporal?.ports() ?? [],
    /** Writes the instance's addresses for the `waybill` command. */
    async announce(apiUrl: string | null, metricsUrls: readonly string[]): Promise<void> {
      // A worker next to an API keeps the entries of the API.
      // With configured servers anybody may own the folder: only this file is read and replaced there.
      const stored = await dataDir.readInstance().catch((): Instance => ({}));
      await dataDir.writeInstance({
        databaseUrl: url,
        temporalAddress,
        temporalUiUrl: temporalUiUrl ?? undefined,
        apiUrl: apiUrl ?? stored.apiUrl,
        metricsUrls: { ...stored.metricsUrls, [settings.ROLE]: [...metricsUrls] },
      });
    },
  };
}
