/**
 * The overview for an e-shop: latest deliveries over time, and how fast receivers answer. Read from the newest on, up
 * to a bound, so that the cost does not grow with the stored data.
 */
import { idAt } from '../../domain/id-time.ts';
import { oneRow, type Pool, type Sql } from '../connection/pool.ts';
import { isLost, isOpen } from '../predicates.ts';
import { transaction } from '../transaction.ts';

export const MAX_DELIVERIES_READ = 50_000;
const MAX_DELIVERIES_MEASURED = 2_000;

/**
 * Makes the planner read in the order of an index. The plan does not know the time, so the planner expects many rows
 * and would sort them all.
 */
export const INDEX_ORDER: Readonly<Record<string, string>> = { enable_sort: 'off', enable_bitmapscan: 'off' };

interface CountRange {
  readonly since: Date;
  readonly stepSeconds: number;
}

export interface CountStep {
  readonly at: Date;
  readonly delivered: number;
  /** Pending, being retried, or held. */
  readonly waiting: number;
  /** Failed, expired or canceled. */
  readonly lost: number;
  /** Replaced by a newer event of the record. */
  readonly superseded: number;
}

export function countOf({ delivered, waiting, lost, superseded }: CountStep): number {
  return delivered + waiting + lost + superseded;
}

/**
 * The newest deliveries of these webhooks, as SQL: those of each webhook by index, merged as they are read. A lateral
 * join would read the full number for each webhook.
 */
function newest(sql: Sql, webhooks: readonly number[], since: Date, limit: number) {
  const ofOne = (webhook: number) => sql`
    (select d.id, d.state, d.created_at from deliveries d
     where d.webhook_id = ${webhook}::bigint and d.id >= ${idAt(since)}::uuid order by d.id desc)`;
  const emptyQuery = sql`select null::uuid as id, null::text as state, null::timestamptz as created_at where false`;
  const [first, ...more] = webhooks.map(ofOne);
  const union = more.reduce((sum, each) => sql`${sum} union all ${each}`, first ?? emptyQuery);
  return sql`select id, state, created_at from (${union}) n order by id desc limit ${limit}`;
}

export function selectSteps(sql: Sql, webhooks: readonly number[], { since, stepSeconds }: CountRange) {
  return sql<CountStep[]>`
    select to_timestamp(floor(extract(epoch from created_at) / ${stepSeconds}::float8) * ${stepSeconds}::float8) as at,
           count(*) filter (where state = 'delivered')::int as delivered,
           count(*) filter (where ${isOpen(sql, 'n')})::int as waiting,
           count(*) filter (where ${isLost(sql, 'n')})::int as lost,
           count(*) filter (where state = 'superseded')::int as superseded
    from (${newest(sql, webhooks, since, MAX_DELIVERIES_READ)}) n group by 1 order by 1`;
}

export function selectSpeed(sql: Sql, webhooks: readonly number[], since: Date) {
  return sql<{ medianMs: number | null; p95Ms: number | null; measured: number }[]>`
    select percentile_cont(0.5) within group (order by a.duration_ms) as median_ms,
           percentile_cont(0.95) within group (order by a.duration_ms) as p95_ms, count(*)::int as measured
    from (${newest(sql, webhooks, since, MAX_DELIVERIES_MEASURED)}) n cross join lateral (
      select a.duration_ms from attempts a where a.delivery_id = n.id and a.delivery_id >= ${idAt(since)}::uuid
      order by a.number desc limit 5) a
    where a.duration_ms is not null`;
}

async function withIndexOrder<Rows>(sql: Pool, query: (tx: Sql) => PromiseLike<Rows>): Promise<Rows> {
  return await transaction(sql, async (tx) => {
    await tx`
      select set_config(name, value, true)
      from unnest(${Object.keys(INDEX_ORDER)}::text[], ${Object.values(INDEX_ORDER)}::text[]) s (name, value)`;
    return await query(tx);
  });
}

/**
 * `steps`: in order, without steps that have no delivery; `whole`: false if the oldest are missing, beyond
 * {@link MAX_DELIVERIES_READ}; `medianMs` and `p95Ms`: of the `measured` latest attempts, null if there were none.
 */
export async function readDeliveryCounts(sql: Pool, eshopId: number, range: CountRange) {
  const rows = await sql<{ id: number }[]>`
    select id from webhooks where eshop_id = ${eshopId} and deleted_at is null order by id`;
  const webhooks = rows.map(({ id }) => id);
  const [steps, speed] = await Promise.all([
    withIndexOrder(sql, (tx) => selectSteps(tx, webhooks, range)),
    oneRow(withIndexOrder(sql, (tx) => selectSpeed(tx, webhooks, range.since))),
  ]);
  const found = steps.reduce((sum, step) => sum + countOf(step), 0);
  return { steps, whole: found < MAX_DELIVERIES_READ, ...speed };
}
