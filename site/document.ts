/** The OpenAPI document of a first instance, without one: nothing here is ever called. */
import { randomBytes } from 'node:crypto';
import pino from 'pino';
import { createApp } from '../src/api/app.ts';
import type { OpenApiDocument } from '../src/api/openapi/document.ts';
import { makeOpenApi } from '../src/api/openapi/make-openapi.ts';
import { createPool } from '../src/db/connection/pool.ts';
import { shippedMarketplaces } from '../src/domain/order/marketplaces.ts';
import { defaultRetryPolicy } from '../src/domain/retry-policy.ts';
import { shippedCatalogue } from '../src/domain/shipper-services.ts';
import { version } from '../src/lib/version.ts';
import { createKeys } from '../src/secrets/keys.ts';
import { EXAMPLE_URL } from '../src/theme/public-url.ts';

function notHere(): never {
  throw new Error('The documentation is made without an instance.');
}

export async function documentOfFirstInstance(): Promise<OpenApiDocument> {
  // It connects with its first query, and there is none.
  const sql = createPool('postgres://127.0.0.1/none', 1);
  const app = createApp({
    sql,
    healthSql: sql,
    log: pino({ level: 'silent' }),
    keys: createKeys(randomBytes(32)),
    temporalState: () => 'unknown',
    loginLimits: { perAddress: 1 },
    trustProxy: false,
    destinationProblem: notHere,
    deliveriesFrom: { addresses: [], userAgent: '' },
    policy: defaultRetryPolicy,
    sendTest: notHere,
    examine: notHere,
    requestAction: null,
    budget: { requests: 1, connections: 1, allConnections: 1, bytesPerSecond: 1 },
    version,
    publicUrl: EXAMPLE_URL,
    shipperCatalogue: shippedCatalogue,
    marketplaces: shippedMarketplaces,
  });
  return await makeOpenApi(app, { version, publicUrl: EXAMPLE_URL, policy: defaultRetryPolicy });
}
