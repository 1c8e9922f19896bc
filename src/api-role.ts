/**
 * The API role: the application on its own connections, behind a port.
 * @module
 */
import type { Logger } from 'pino';
import { createApp } from './api/app.ts';
import { createTrial } from './attempt/trial.ts';
import type { Config } from './config/config.ts';
import { MOST_CONNECTIONS } from './config/variables.ts';
import { loadMarketplaces, loadShipperCatalogue } from './data-files.ts';
import { createPool, type Pool } from './db/pool.ts';
import { createAddressGuard } from './delivery/address-guard.ts';
import { destinationProblem } from './delivery/destination.ts';
import type { OwnEndpoints } from './delivery/own-endpoints.ts';
import type { Sender } from './delivery/sender.ts';
import { listen } from './http-server.ts';
import type { Keys } from './keys.ts';
import type { Shutdown } from './shutdown.ts';
import { version } from './version.ts';

/** What the API role receives. */
export interface ApiOptions {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly sql: Pool;
  readonly keys: Keys;
  /** Never a destination of webhooks; the API's own port is added. */
  readonly own: OwnEndpoints;
  /** For tests of webhooks. */
  readonly sender: Sender;
  readonly temporalState: () => 'up' | 'down' | 'unknown';
  readonly log: Logger;
}

/**
 * Starts serving.
 * @param shutdown receives what stops it
 * @throws UserError when the port is taken, or a data file cannot be used
 * @returns the address: `http://host:port`
 */
export async function startApi(options: ApiOptions, shutdown: Shutdown): Promise<string> {
  const { config, sql, keys, own, sender, log, temporalState } = options;
  const { settings } = config;
  const guard = createAddressGuard(config.deliveryAllowCidrs, own);
  const healthSql = createPool(options.databaseUrl, 1);
  await shutdown.add(() => healthSql.end({ timeout: 5 }));
  const app = createApp({
    sql,
    healthSql,
    log,
    keys,
    version,
    temporalState,
    loginLimits: { perAddress: settings.LOGIN_LIMIT_PER_ADDRESS },
    trustProxy: settings.TRUST_PROXY,
    trial: createTrial({ sender, keys, version }),
    destinationProblem: (url) => destinationProblem(guard, url),
    budget: {
      requests: settings.ESHOP_REQUESTS,
      connections: settings.ESHOP_CONNECTIONS,
      allConnections: MOST_CONNECTIONS,
      bytesPerSecond: settings.ESHOP_MIB_PER_SECOND * 1024 * 1024,
    },
    shipperCatalogue: await loadShipperCatalogue(settings.SHIPPER_SERVICES_FILE),
    marketplaces: await loadMarketplaces(settings.MARKETPLACES_FILE),
  });
  const { url, close } = await listen(app, settings.HOST, settings.PORT, {
    maxConnections: settings.MAX_CONNECTIONS,
  });
  await shutdown.add(close);
  own.addUrl(url, 80);
  return url;
}
