import type { Hono } from 'hono';
import { databaseAnswers } from '../db/connection/health.ts';
import { DISK_FULL } from '../lib/database-away.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { errorBody } from './errors.ts';

/** `/healthz` and `/readyz`, outside the envelope and without authentication. */
export function systemRoutes(
  app: Hono<ApiEnv>,
  {
    sql,
    healthSql,
    isDiskFull = () => false,
    temporalState,
    version,
    hasReachedTemporal = () => true,
  }: Pick<ApiDeps, 'sql' | 'healthSql' | 'isDiskFull' | 'temporalState' | 'version'> & {
    /** False for a worker that never has: a roll-out must not replace working ones with it. Default: true. */
    readonly hasReachedTemporal?: () => boolean;
  },
): void {
  app.get('/healthz', (c) => c.json({ status: 'ok', version }));
  app.get('/readyz', async (c) => {
    const temporal = temporalState();
    if (!(await databaseAnswers(healthSql, sql))) {
      const body = errorBody(503, 'The service cannot reach its database.');
      return c.json({ ...body, database: 'down', temporal }, 503);
    }
    if (isDiskFull()) return c.json({ ...errorBody(503, `${DISK_FULL}.`), database: 'full', temporal }, 503);
    if (hasReachedTemporal()) return c.json({ status: 'ready', database: 'up', temporal });
    const body = errorBody(503, 'This worker has never reached its namespace in Temporal: the log says why.');
    return c.json({ ...body, database: 'up', temporal }, 503);
  });
}
