import { Hono } from 'hono';
import { databaseAnswers } from '../db/health.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { errorBody } from './errors.ts';

/** `/healthz` and `/readyz`, outside the envelope and without authentication. */
export function systemRoutes({
  healthSql,
  temporalState,
  version,
  hasReachedTemporal = () => true,
}: Pick<ApiDeps, 'healthSql' | 'temporalState' | 'version'> & {
  /** False for a worker that never has: a roll-out must not replace working ones with it. Default: true. */
  readonly hasReachedTemporal?: () => boolean;
}): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  app.get('/healthz', (c) => c.json({ status: 'ok', version }));
  app.get('/readyz', async (c) => {
    const temporal = temporalState();
    if (!(await databaseAnswers(healthSql))) {
      const body = errorBody(503, 'The service cannot reach its database.');
      return c.json({ ...body, database: 'down', temporal }, 503);
    }
    if (hasReachedTemporal()) return c.json({ status: 'ready', database: 'up', temporal });
    const body = errorBody(503, 'This worker has never reached its namespace in Temporal: the log says why.');
    return c.json({ ...body, database: 'up', temporal }, 503);
  });
  return app;
}
