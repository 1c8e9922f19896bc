/**
 * What machines ask of a process: does it live, can it serve.
 * @module
 */
import { STATUS_CODES } from 'node:http';
import { Hono } from 'hono';
import { databaseAnswers } from '../db/health.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';

/** `/healthz` and `/readyz`, outside the envelope and without authentication. */
export function systemRoutes({ healthSql, temporalState, version }: ApiDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  app.get('/healthz', (c) => c.json({ status: 'ok', version }));
  app.get('/readyz', async (c) => {
    const temporal = temporalState();
    if (await databaseAnswers(healthSql)) return c.json({ status: 'ready', database: 'up', temporal });
    const message = 'The service cannot reach its database.';
    return c.json({ statusCode: 503, error: STATUS_CODES[503], message, database: 'down', temporal }, 503);
  });
  return app;
}
