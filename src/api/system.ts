import { Hono } from 'hono';
import { databaseAnswers } from '../db/health.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { errorBody } from './errors.ts';

/** `/healthz` and `/readyz`, outside the envelope and without authentication. */
export function systemRoutes({
  healthSql,
  temporalState,
  version,
}: Pick<ApiDeps, 'healthSql' | 'temporalState' | 'version'>): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  app.get('/healthz', (c) => c.json({ status: 'ok', version }));
  app.get('/readyz', async (c) => {
    const temporal = temporalState();
    if (await databaseAnswers(healthSql)) return c.json({ status: 'ready', database: 'up', temporal });
    const body = errorBody(503, 'The service cannot reach its database.');
    return c.json({ ...body, database: 'down', temporal }, 503);
  });
  return app;
}
