/** Databases for tests of plans: few rows, which the planner takes for many. */
import { createPool, type Pool, type Sql } from '../../../src/db/connection/pool.ts';
import { createTestDatabase } from './database.ts';
import { createPlanner, type Planner } from './lists/plan.ts';

/** The number of seeded deliveries. */
export const ROWS = 20_000;

/** A database without a statement timeout, however busy the machine is. */
export async function unhurried(): Promise<{
  readonly sql: Pool;
  /** Ends with the database. @param settings of the planner */
  planner(settings?: Readonly<Record<string, string>>): Promise<Planner>;
  drop(): Promise<void>;
}> {
  const { url, drop } = await createTestDatabase();
  const sql = createPool(url, 2, { statementMs: null, silenceMs: null });
  const planners: Planner[] = [];
  return {
    sql,
    async planner(settings) {
      const planner = await createPlanner(url, sql, settings);
      planners.push(planner);
      return planner;
    },
    async drop() {
      await Promise.all(planners.map((planner) => planner.end()));
      await sql.end();
      await drop();
    },
  };
}

/** Plans the queries of this transaction as behind a pooler: without session settings, for their actual values. */
export async function planAsThroughPooler(tx: Sql): Promise<void> {
  await tx`set local plan_cache_mode = auto`;
  await tx`set local enable_seqscan = on`;
}

/** Makes the planner expect ten million deliveries in these tables. */
export async function exaggerate(sql: Pool): Promise<void> {
  await sql`
    update pg_class set reltuples = reltuples * ${10_000_000 / ROWS}::int
    where oid in (
      select inhrelid from pg_inherits where inhparent in ('events'::regclass, 'deliveries'::regclass, 'attempts'::regclass)
      union all
      select indexrelid from pg_index join pg_inherits on inhrelid = indrelid
      where inhparent in ('events'::regclass, 'deliveries'::regclass, 'attempts'::regclass)
      union all
      select 'redeliveries'::regclass)`;
}
