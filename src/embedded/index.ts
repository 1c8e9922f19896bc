/**
 * The parts that run here because nothing else is configured.
 * @module
 */
import type { Config } from '../config.ts';
import { type DataDir, lockDataDir, openDataDir } from './data-dir.ts';
import { startTemporalIn } from './data-dir-temporal.ts';
import { startPostgres } from './postgres.ts';

/** The stack as the program sees it: configured parts by their addresses, the others started here. */
export interface EmbeddedStack {
  readonly dataDir: DataDir;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly temporalUiUrl: string | null;
  /** Writes down where the instance is reached, for the `waybill` command. */
  announce(apiUrl: string | null): Promise<void>;
  /** Stops what was started here: Temporal, then Postgres. */
  stop(): Promise<void>;
}

/** How often the embedded Postgres is looked at, in milliseconds. */
const WATCH_INTERVAL_MS = 1_000;

/**
 * Starts what is not configured.
 * @param say hears what takes time
 * @throws DataDirError with one sentence when the folder is in use or cannot be used
 */
export async function startEmbedded(
  { settings }: Config,
  say: (text: string) => void,
): Promise<EmbeddedStack> {
  const dataDir = await openDataDir(settings.DATA_DIR);
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (let next = stops.pop(); next !== undefined; next = stops.pop()) await next();
  };
  try {
    let databaseUrl = settings.DATABASE_URL;
    const needsTemporal = settings.TEMPORAL_ADDRESS === undefined && settings.ROLE !== 'api';
    if (databaseUrl === undefined || needsTemporal) stops.push(await lockDataDir(dataDir));
    if (databaseUrl === undefined) {
      say('Starting the embedded Postgres …');
      const server = await startPostgres(dataDir, say);
      stops.push(() => server.stop());
      let looking: Promise<unknown> = Promise.resolve();
      const timer = setInterval(() => {
        looking = server.keepAlive().then(
          (found) => found === 'restarted' && say('The embedded Postgres had died; it runs again.'),
          (error: unknown) => say(String(error)),
        );
      }, WATCH_INTERVAL_MS);
      stops.push(async () => {
        clearInterval(timer);
        await looking;
      });
      databaseUrl = server.url;
    }
    let temporalAddress = settings.TEMPORAL_ADDRESS ?? '';
    let temporalUiUrl: string | null = null;
    if (needsTemporal) {
      say('Starting the Temporal dev server …');
      const temporal = await startTemporalIn(dataDir, say);
      stops.push(() => temporal.stop());
      temporalAddress = temporal.address;
      temporalUiUrl = temporal.uiPort === null ? null : `http://127.0.0.1:${temporal.uiPort}`;
    }
    const url = databaseUrl;
    return {
      dataDir,
      databaseUrl: url,
      temporalAddress,
      temporalUiUrl,
      async announce(apiUrl) {
        await dataDir.writeInstance({
          databaseUrl: url,
          temporalAddress,
          ...(apiUrl === null ? {} : { apiUrl }),
        });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
