/** The parts that run here because nothing else is configured. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import type { Shutdown } from '../lib/shutdown.ts';
import { type DataDir, lockDataDir, openDataDir, requireFormat } from './data-dir.ts';
import { startTemporalIn } from './data-dir-temporal.ts';
import { type EmbeddedServer, startPostgres } from './postgres.ts';
import { findTemporal } from './temporal-binary.ts';

/** The stack as the program sees it: configured parts by their addresses, the others started here. */
export interface EmbeddedStack {
  readonly dataDir: DataDir;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly temporalUiUrl: string | null;
  /** Ports of 127.0.0.1 that the embedded Temporal serves on. */
  readonly temporalPorts: readonly number[];
  /** Writes down where the instance is reached, for the `waybill` command. */
  announce(apiUrl: string | null, metricsUrls: readonly string[]): Promise<void>;
}

/** How often the embedded Postgres is looked at, in milliseconds. */
const WATCH_INTERVAL_MS = 1_000;

/** Restarts Postgres when it has crashed. Returns what ends the watch and stops the server. */
function watchPostgres(server: EmbeddedServer, say: (text: string) => void): () => Promise<void> {
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      await sleep(WATCH_INTERVAL_MS, undefined, { signal: over.signal, ref: false }).catch(() => {});
      if (over.signal.aborted) return;
      const found = await server.ensureRunning().catch((error: unknown) => say(String(error)));
      if (found === 'restarted') say('The embedded Postgres had crashed; it is running again.');
    }
  })();
  return async () => {
    over.abort();
    // A restart under way fails by this at once, instead of being waited for.
    await server.stop();
    await watching;
    await server.stop();
  };
}

/**
 * Starts what is not configured.
 * @param say hears what takes time
 * @param shutdown receives what stops each part
 * @throws DataDirError with one sentence when the folder is in use, cannot be used, or was made before 1.0
 */
export async function startEmbedded(
  { settings }: Config,
  say: (text: string) => void,
  shutdown: Shutdown,
): Promise<EmbeddedStack> {
  const dataDir = await openDataDir(settings.DATA_DIR);
  let databaseUrl = settings.DATABASE_URL;
  const needsTemporal = settings.TEMPORAL_ADDRESS === undefined && settings.ROLE !== 'api';
  if (databaseUrl === undefined || needsTemporal) {
    await requireFormat(dataDir);
    await shutdown.add(await lockDataDir(dataDir), true);
  }
  // Looked for at once: where it has to be fetched first, that takes longer than all the rest.
  const temporalProgram = needsTemporal ? findTemporal({ report: say, signal: shutdown.signal }) : undefined;
  // What was begun of it is gone before we are.
  const searched = temporalProgram?.then(
    () => {},
    () => {},
  );
  await shutdown.add(async () => searched, true);
  if (databaseUrl === undefined) {
    say('Starting the embedded Postgres …');
    const watched = startPostgres(dataDir, say).then((server) => ({
      url: server.url,
      stop: watchPostgres(server, say),
    }));
    databaseUrl = (await shutdown.starting(watched, ({ stop }) => stop(), true)).url;
  }
  let temporalAddress = settings.TEMPORAL_ADDRESS ?? '';
  let temporalUiUrl: string | null = null;
  let temporalPorts: readonly number[] = [];
  if (temporalProgram !== undefined) {
    say('Starting the Temporal dev server …');
    const starting = startTemporalIn(dataDir, temporalProgram, say, shutdown.signal);
    const temporal = await shutdown.starting(starting, ({ stop }) => stop(), true);
    temporalAddress = temporal.address;
    temporalPorts = temporal.ports;
    temporalUiUrl = temporal.uiPort === null ? null : `http://127.0.0.1:${temporal.uiPort}`;
  }
  const url = databaseUrl;
  return {
    dataDir,
    databaseUrl: url,
    temporalAddress,
    temporalUiUrl,
    temporalPorts,
    async announce(apiUrl, metricsUrls) {
      // A worker beside an API leaves the notes of it where they are.
      const known = await dataDir.readInstance();
      const noted = apiUrl ?? known.apiUrl;
      await dataDir.writeInstance({
        databaseUrl: url,
        temporalAddress,
        ...(temporalUiUrl === null ? {} : { temporalUiUrl }),
        ...(noted === undefined ? {} : { apiUrl: noted }),
        metricsUrls: { ...known.metricsUrls, [settings.ROLE]: [...metricsUrls] },
      });
    },
  };
}
