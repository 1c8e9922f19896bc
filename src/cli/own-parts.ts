/** The keys and own endpoints of the instance that a command works on. */
import { instanceEndpoints } from '../app/instance-endpoints.ts';
import { commandKeys } from '../app/master-key.ts';
import { loadConfig } from '../config/config.ts';
import type { Pool } from '../db/connection/pool.ts';
import { dataDirAt } from '../embedded/data-dir.ts';
import { listeningPorts } from '../embedded/ports.ts';
import { instanceOf } from './open-database.ts';

/** @throws UserError with one sentence */
export async function ownParts(env: Readonly<Record<string, string | undefined>>) {
  const config = loadConfig(env);
  const { settings } = config;
  const dataDir = dataDirAt(settings.DATA_DIR);
  const { databaseUrl = '', temporalAddress = '', temporalUiUrl } = await instanceOf(settings);
  const uiPorts = temporalUiUrl === undefined ? [] : [Number(new URL(temporalUiUrl).port)];
  const pid = Number(await dataDir.read('temporal/pid'));
  const temporalPorts = [...uiPorts, ...(pid > 0 ? await listeningPorts(pid) : [])];
  const endpoints = instanceEndpoints(config, {
    dataDir,
    databaseUrl: settings.DATABASE_URL ?? databaseUrl,
    temporalAddress: settings.TEMPORAL_ADDRESS ?? temporalAddress,
    temporalPorts: () => temporalPorts,
  });
  return {
    config,
    /** Never a destination of webhooks. */
    own: endpoints,
    /** The keys that seal webhook secrets. @throws UserError when they are not those of this database */
    keys: (sql: Pool) => commandKeys(sql, settings, dataDir),
  };
}
