/**
 * What an e-shop sees at a glance: its latest deliveries over time, and how fast its receivers answer. Read from the newest
 * on and no further than a bound, so that it takes the same whatever is stored.
 */
import { idAt } from '../../domain/id-time.ts';
import type { Pool, Sql } from '../pool.ts';
import { transaction } from '../transaction.ts';

/** The most deliveries that are looked at, and the most whose attempts are. */
export const MOST_LOOKED_AT = 50_000;
const MOST_MEASURED = 2_000;

/**
 * What the planner is told for these queries: to read by an index in its order. Of a plan that fits any time at all it believes
 * that so much is read that sorting is cheaper, and sorts all that lies within the time.
 */
export const IN_ORDER: Readonly<Record<string, string>> = { enable_sort: 'off', enable_bitmapscan: 'off' };

/** Which time, and how finely. */
export interface CountRange {
  readonly since: Date;
  readonly stepSeconds: number;
}

/** Deliveries made within one step, by what has become of them. */
export interface CountStep {
  /** When it begins. */
  readonly at: Date;
  readonly delivered: number;
  /** Pending, being retried, or held. */
  readonly waiting: number;
  /** Failed, expired or canceled. */
  readonly lost: number;
}

/** What was found. */
export interface DeliveryCounts {
  /** In order; steps without a delivery are left out. */
  readonly steps: readonly CountStep[];
  /** False if there are more deliveries than {@link MOST_LOOKED_AT}: the oldest are missing. */
  readonly whole: boolean;
  /** Of the latest attempts, in milliseconds; null where there were none. */
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
  /** How many attempts these are of. */
  readonly measured: number;
}

/**
 * The newest deliveries of these webhooks since a time, as SQL: those of each by its index, merged as they are read, so that no
 * more are read than are wanted of all together. A lateral join would read as many of each.
 */
function newest(sql: Sql, webhooks: readonly number[], since: Date, most: number) {
  const ofOne = (webhook: number) => sql`
    (select d.id, d.state, d.created_at from deliveries d
     where d.webhook_id = ${webhook}::bigint and d.id >= ${idAt(since)}::uuid order by d.id desc)`;
  const none = sql`select null::uuid as id, null::text as state, null::timestamptz as created_at where false`;
  const [first, ...more] = webhooks.map(ofOne);
  const all = more.reduce((sum, each) => sql`${sum} union all ${each}`, first ?? none);
  return sql`select id, state, created_at from (${all}) n order by id desc limit ${most}`;
}

/** The query of the bars, not sent yet. */
export function selectSteps(sql: Sql, webhooks: readonly number[], { since, stepSeconds }: CountRange) {
  return sql<CountStep[]>`
    select to_timestamp(floor(extract(epoch from created_at) / ${stepSeconds}::float8) * ${stepSeconds}::float8) as at,
           count(*) filter (where state = 'delivered')::int as delivered,
           count(*) filter (where state in ('pending', 'retrying'))::int as waiting,
           count(*) filter (where state in ('failed', 'expired', 'canceled'))::int as lost
    from (${newest(sql, webhooks, since, MOST_LOOKED_AT)}) n group by 1 order by 1`;
}

/** The query of how fast receivers answer, not sent yet. */
export function selectSpeed(sql: Sql, webhooks: readonly number[], since: Date) {
  return sql<{ medianMs: number | null; p95Ms: number | null; measured: number }[]>`
    select percentile_cont(0.5) within group (order by a.duration_ms) as median_ms,
           percentile_cont(0.95) within group (order by a.duration_ms) as p95_ms, count(*)::int as measured
    from (${newest(sql, webhooks, since, MOST_MEASURED)}) n cross join lateral (
      select a.duration_ms from attempts a where a.delivery_id = n.id and a.delivery_id >= ${idAt(since)}::uuid
      order by a.number desc limit 5) a
    where a.duration_ms is not null`;
}

/** Sends a query of this module, planned {@link IN_ORDER}. */
async function inOrder<Rows>(sql: Pool, query: (tx: Sql) => PromiseLike<Rows>): Promise<Rows> {
  return await transaction(sql, async (tx) => {
    await tx`
      select set_config(name, value, true)
      from unnest(${Object.keys(IN_ORDER)}::text[], ${Object.values(IN_ORDER)}::text[]) s (name, value)`;
    return await query(tx);
  });
}

/** Reads the counts of a time that ends now. */
export async function readDeliveryCounts(
  sql: Pool,
  eshopId: number,
  range: CountRange,
): Promise<DeliveryCounts> {
  const rows = await sql<{ id: number }[]>`
    select id from webhooks where eshop_id = ${eshopId} and deleted_at is null order by id`;
  const webhooks = rows.map(({ id }) => id);
  const [steps, [speed]] = await Promise.all([
    inOrder(sql, (tx) => selectSteps(tx, webhooks, range)),
    inOrder(sql, (tx) => selectSpeed(tx, webhooks, range.since)),
  ]);
  const found = steps.reduce((sum, { delivered, waiting, lost }) => sum + delivered + waiting + lost, 0);
  return {
    steps,
    whole: found < MOST_LOOKED_AT,
    medianMs: speed?.medianMs ?? null,
    p95Ms: speed?.p95Ms ?? null,
    measured: speed?.measured ?? 0,
  };
}
