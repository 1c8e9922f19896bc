/**
 * The open work of all e-shops together, and how much of it waits. Everything is found by indexes of open rows, so
 * that the cost does not grow with the stored data.
 */
import { idAt } from '../domain/id-time.ts';
import { databaseTime } from './clock.ts';
import { counted, oneRow, type Sql } from './connection/pool.ts';
import { CLASS } from './outbox/outbox.ts';
import { countWithoutWorkflow } from './outbox/unstarted-workflows.ts';
import { isPaused, makesAttempts } from './pauses.ts';
import { isOpen } from './predicates.ts';

/** The outbox. Ages are in seconds; null if nothing waits. */
interface OutboxOverview {
  /** Deliveries that wait for their first attempt. Those of imports (`bulk`) and recoveries wait behind others. */
  readonly fresh: number;
  readonly bulk: number;
  readonly recovered: number;
  /** Deliveries that wait for a retry due within a minute. */
  readonly retry: number;
  /**
   * Deliveries that wait for their workflow: they were attempted, or held or interrupted before a first result. And
   * how many delivered ones never got one because too many waited.
   */
  readonly undelivered: number;
  readonly delivered: number;
  readonly withoutWorkflow: number;
  /** Deliveries that wait for the end of a pause of their webhook; they are not counted above. */
  readonly paused: number;
  /** Deliveries that wait for an older one of their record, the number of their records, and the longest wait. */
  readonly blocked: number;
  readonly blockedRecords: number;
  readonly blockedSeconds: number | null;
  /** The longest wait of a fresh delivery, or of an undelivered one due for a retry or its workflow; 0 if none is. */
  readonly oldestSeconds: number | null;
  /**
   * Changes to webhooks and pre-orders that are being passed on, and how long ago the oldest was due. A change
   * that waits behind another one to the same webhook is counted, but not due.
   */
  readonly changes: number;
  readonly oldestChangeSeconds: number | null;
}

export async function readOutbox(sql: Sql): Promise<OutboxOverview> {
  const age = (since: ReturnType<typeof sql>) => sql`extract(epoch from now() - ${since})::float8`;
  const isBlocked = sql`class = ${CLASS.blocked} and w.active and not is_paused`;
  // A delivery that an inactive webhook held waits since the activation.
  const waitsSince = (since: ReturnType<typeof sql>) =>
    sql`greatest(${since}, w.generation_at, w.paused_until)`;
  const isDue = sql`class in (${CLASS.retry}, ${CLASS.undelivered})`;
  const row = await oneRow(sql<Omit<OutboxOverview, 'withoutWorkflow'>[]>`
    with queued as materialized (
      select count(*) filter (where class = ${CLASS.fresh} and not is_paused)::int as fresh,
             count(*) filter (where class = ${CLASS.bulk} and not is_paused)::int as bulk,
             count(*) filter (where class = ${CLASS.recovered} and not is_paused)::int as recovered,
             count(*) filter (where class = ${CLASS.retry} and not is_paused)::int as retry,
             count(*) filter (where is_paused)::int as paused,
             count(*) filter (where class = ${CLASS.undelivered})::int as undelivered,
             count(*) filter (where class = ${CLASS.delivered})::int as delivered,
             count(*) filter (where ${isBlocked})::int as blocked,
             count(distinct ordering_key) filter (where ${isBlocked})::int as blocked_records,
             min(${waitsSince(sql`d.created_at`)}) filter (where ${isBlocked}) as oldest_blocked,
             min(${waitsSince(sql`case when ${isDue} then due_at else d.created_at end`)})
               filter (where class not in (${CLASS.recovered}, ${CLASS.blocked}, ${CLASS.delivered}) and not is_paused) as oldest
      from deliveries d join webhooks w on w.id = d.webhook_id
      cross join lateral (
        select class not in (${CLASS.undelivered}, ${CLASS.delivered}) and ${isPaused(sql, 'w')} is true as is_paused) p
      where dispatched_at is null),
    changes as materialized (
      select count(*)::int as count, min(due_at) filter (where webhook_id is null or place = 1) as oldest
      from (select webhook_id, due_at, row_number() over (partition by webhook_id order by id) as place from changes_to_signal) c)
    select q.fresh, q.bulk, q.recovered, q.retry, q.paused, q.undelivered, q.delivered, q.blocked, q.blocked_records,
           ${age(sql`q.oldest_blocked`)} as blocked_seconds, c.count as changes,
           ${age(sql`q.oldest`)} as oldest_seconds,
           ${age(sql`c.oldest`)} as oldest_change_seconds
    from queued q, changes c`);
  // Rows due in the future are not late.
  const atLeastNone = (seconds: number | null) => (seconds === null ? null : Math.max(0, seconds));
  return {
    ...row,
    withoutWorkflow: await countWithoutWorkflow(sql),
    oldestSeconds: atLeastNone(row.oldestSeconds),
    oldestChangeSeconds: atLeastNone(row.oldestChangeSeconds),
  };
}

/** Open deliveries, by their state as shown. */
interface OpenOverview {
  readonly pending: number;
  readonly retrying: number;
  readonly held: number;
  readonly holdingWebhooks: number;
}

export async function readOpen(sql: Sql): Promise<OpenOverview> {
  return await oneRow(sql<OpenOverview[]>`
    with open as materialized (
      select webhook_id, state, operator_stop = 'hold' as by_operator, count(*) as count from deliveries
      where ${isOpen(sql, 'deliveries')} group by 1, 2, 3)
    select coalesce(sum(o.count) filter (where not held and o.state = 'pending'), 0)::int as pending,
           coalesce(sum(o.count) filter (where not held and o.state = 'retrying'), 0)::int as retrying,
           coalesce(sum(o.count) filter (where held), 0)::int as held,
           count(distinct o.webhook_id) filter (where held)::int as holding_webhooks
    from open o join webhooks w on w.id = o.webhook_id
    cross join lateral (select not ${makesAttempts(sql, 'w')} or coalesce(o.by_operator, false) as held) h`);
}

/** Counts the deliveries that expired within the last day because of a failure of Waybill itself. */
export async function countWindowsLost(sql: Sql): Promise<number> {
  return await counted(sql<{ count: number }[]>`
    select count(*)::int as count from deliveries d join webhooks w on w.id = d.webhook_id
    where d.state = 'expired' and d.window_lost and d.finished_at > now() - interval '1 day' and w.deleted_at is null`);
}

/** How many webhooks are failing and not paused: they have accepted no attempt since one failed. And e-shops. */
export async function readIncidents(sql: Sql) {
  return await oneRow(sql<{ webhooks: number; failing: number; deactivated: number }[]>`
    select count(*)::int as webhooks, count(distinct w.eshop_id)::int as failing,
           (select count(distinct eshop_id) from deactivations d join webhooks on id = webhook_id
            where d.reason <> 'user' and d.at > now() - interval '1 hour')::int as deactivated
    from (
      select webhook_id, generation, max(until) filter (where failures > 0) as failed,
             max(until) filter (where failures = 0) as accepted
      from failures group by webhook_id, generation) f
    join webhooks w on w.id = f.webhook_id and w.generation = f.generation and ${makesAttempts(sql, 'w')} and w.deleted_at is null
    where f.failed > coalesce(f.accepted, '-infinity')`);
}

/** Asks Postgres about itself: its version, and the size of the database on disk. */
export async function readDatabase(sql: Sql) {
  return await oneRow(sql<{ version: string; bytes: number }[]>`
    select current_setting('server_version') as version, pg_database_size(current_database())::float8 as bytes`);
}

/** The events and deliveries created recently, and their outcome. */
export interface FlowOverview {
  /** The length of the period, in seconds. */
  readonly seconds: number;
  readonly events: number;
  readonly deliveries: number;
  readonly delivered: number;
  /** How many were attempted without success. */
  readonly failing: number;
  /** How long those delivered took from creation to success: median and 95th percentile; null if there are none. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** The period in which the flow is counted, in seconds. */
const FLOW_SECONDS = 10;

/** Reads by the ids of the last seconds: older rows cost nothing. */
export async function readFlow(sql: Sql): Promise<FlowOverview> {
  const from = idAt(new Date((await databaseTime(sql)).getTime() - FLOW_SECONDS * 1_000));
  const row = await oneRow(sql<Omit<FlowOverview, 'seconds'>[]>`
    with lately as materialized (
      select state, extract(epoch from finished_at - created_at) * 1000 as ms from deliveries where id >= ${from}::uuid)
    select (select count(*)::int from events where id >= ${from}::uuid) as events,
           count(*)::int as deliveries,
           count(*) filter (where state = 'delivered')::int as delivered,
           count(*) filter (where state in ('retrying', 'failed'))::int as failing,
           percentile_disc(0.5) within group (order by ms) filter (where state = 'delivered')::float8 as p50_ms,
           percentile_disc(0.95) within group (order by ms) filter (where state = 'delivered')::float8 as p95_ms
    from lately`);
  return { seconds: FLOW_SECONDS, ...row };
}
