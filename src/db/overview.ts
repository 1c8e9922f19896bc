/**
 * What there is to do and how much of it waits, of all e-shops together. Everything is found by indexes of what is open, so
 * that it takes no longer the more is stored.
 */
import { idAt } from '../domain/id-time.ts';
import { databaseTime } from './clock.ts';
import { QUEUE } from './outbox/outbox.ts';
import { counted, oneRow, type Sql } from './pool.ts';

/** What Temporal has not been told yet. Ages are in seconds; null where nothing waits. */
export interface OutboxOverview {
  /** Deliveries that wait for their first attempt. Those that recoveries created wait behind them. */
  readonly fresh: number;
  readonly recovered: number;
  /** Deliveries that a batch handed back. */
  readonly handedBack: number;
  /** Deliveries that wait for their order, of so many records, and the longest of them. */
  readonly inOrder: number;
  readonly recordsInOrder: number;
  readonly inOrderSeconds: number | null;
  /** Of the longest waiting delivery that is fresh, or was handed back and is due; 0 where none that was handed back is due yet. */
  readonly oldestSeconds: number | null;
  /** Something was handed over lately and waits for its first attempt's result: who waits, waits for a place. */
  readonly moving: boolean;
  /** Changes of webhooks and pre-orders that are being passed on, and since when the oldest of them should be. */
  readonly changes: number;
  readonly oldestChangeSeconds: number | null;
}

/** A delivery that has been handed over for longer than this without a result says nothing about the relay. In seconds. */
const LATELY_SECONDS = 60;

export async function readOutbox(sql: Sql): Promise<OutboxOverview> {
  const lately = sql`now() - make_interval(secs => ${LATELY_SECONDS})`;
  const age = (since: ReturnType<typeof sql>) => sql`extract(epoch from now() - ${since})::float8`;
  const row = await oneRow(sql<OutboxOverview[]>`
    with queued as materialized (
      select count(*) filter (where queue in (${QUEUE.fresh}, ${QUEUE.bulk}))::int as fresh,
             count(*) filter (where queue = ${QUEUE.recovered})::int as recovered,
             count(*) filter (where queue in (${QUEUE.retry}, ${QUEUE.workflow}))::int as handed_back,
             count(*) filter (where queue = ${QUEUE.inOrder})::int as in_order,
             count(distinct (eshop_id, entity_id)) filter (where queue = ${QUEUE.inOrder})::int as records_in_order,
             min(created_at) filter (where queue = ${QUEUE.inOrder}) as oldest_in_order,
             min(case when queue in (${QUEUE.retry}, ${QUEUE.workflow}) then due_at else created_at end)
               filter (where queue not in (${QUEUE.recovered}, ${QUEUE.inOrder})) as oldest
      from deliveries where dispatched_at is null and state in ('pending', 'retrying')),
    changes as materialized (select count(*)::int as count, min(due_at) as oldest from outbox)
    select q.fresh, q.recovered, q.handed_back, q.in_order, q.records_in_order, ${age(sql`q.oldest_in_order`)} as in_order_seconds, c.count as changes,
           ${age(sql`q.oldest`)} as oldest_seconds,
           ${age(sql`c.oldest`)} as oldest_change_seconds,
           exists (select from deliveries
                   where state = 'pending' and batch_id is null and dispatched_at > ${lately})
             or exists (select from batches b join deliveries d on d.batch_id = b.id
                        where b.finished_at is null and d.state in ('pending', 'retrying') and d.dispatched_at > ${lately})
             as moving
    from queued q, changes c`);
  // What is due in the future is not late.
  const atLeastNone = (seconds: number | null) => (seconds === null ? null : Math.max(0, seconds));
  return {
    ...row,
    oldestSeconds: atLeastNone(row.oldestSeconds),
    oldestChangeSeconds: atLeastNone(row.oldestChangeSeconds),
  };
}

/** Open deliveries, by their state as shown. */
export interface OpenOverview {
  readonly pending: number;
  readonly retrying: number;
  readonly held: number;
  /** Webhooks for which they are held. */
  readonly holdingWebhooks: number;
}

/** Counts what is open. */
export async function readOpen(sql: Sql): Promise<OpenOverview> {
  return await oneRow(sql<OpenOverview[]>`
    with open as materialized (
      select webhook_id, state, operator_stop = 'hold' as by_operator, count(*) as count from deliveries
      where state in ('pending', 'retrying') group by 1, 2, 3)
    select coalesce(sum(o.count) filter (where not held and o.state = 'pending'), 0)::int as pending,
           coalesce(sum(o.count) filter (where not held and o.state = 'retrying'), 0)::int as retrying,
           coalesce(sum(o.count) filter (where held), 0)::int as held,
           count(distinct o.webhook_id) filter (where held)::int as holding_webhooks
    from open o join webhooks w on w.id = o.webhook_id
    cross join lateral (select not w.active or coalesce(o.by_operator, false) as held) h`);
}

/** The mails about deactivations. */
export interface MailOverview {
  readonly owed: number;
  /** Of the one that is owed longest; null where none is. */
  readonly oldestSeconds: number | null;
  /** Refused by the mail server for good, within the last day. */
  readonly refusedLately: number;
}

export async function readMails(sql: Sql): Promise<MailOverview> {
  return await oneRow(sql<MailOverview[]>`
    with owed as materialized (
      select count(*)::int as count, min(at) as oldest from deactivations
      where mailed_at is null and delivery_id is not null and mail_failed_at is null)
    select o.count as owed, extract(epoch from now() - o.oldest)::float8 as oldest_seconds,
           (select count(*)::int from deactivations
            where mailed_at is null and delivery_id is not null and mail_failed_at > now() - interval '1 day')
             as refused_lately
    from owed o`);
}

/** Counts the webhooks of which no attempt has been accepted since one failed. */
export async function countIncidents(sql: Sql): Promise<number> {
  return await counted(sql<{ count: number }[]>`
    select count(*)::int as count
    from (
      select webhook_id, generation, max(until) filter (where failures > 0) as failed,
             max(until) filter (where failures = 0) as accepted
      from failures group by webhook_id, generation) f
    join webhooks w on w.id = f.webhook_id and w.generation = f.generation and w.active and w.deleted_at is null
    where f.failed > coalesce(f.accepted, '-infinity')`);
}

/** The database itself. */
export interface DatabaseOverview {
  readonly version: string;
  /** On its disk. */
  readonly bytes: number;
}

/** Asks Postgres about itself. */
export async function readDatabase(sql: Sql): Promise<DatabaseOverview> {
  return await oneRow(sql<DatabaseOverview[]>`
    select current_setting('server_version') as version, pg_database_size(current_database())::float8 as bytes`);
}

/** What was created lately, and what has become of it. */
export interface FlowOverview {
  /** The time that this is about, in seconds. */
  readonly seconds: number;
  readonly events: number;
  readonly deliveries: number;
  /** Of these deliveries. */
  readonly delivered: number;
  /** Likewise: attempted without success. */
  readonly failing: number;
  /** How long those delivered took, from event to success, in milliseconds: of half of them, and of 95 of 100; null where there are none. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** Reads what the ids of the last seconds name: what is older costs nothing. */
export async function readFlow(sql: Sql, seconds: number): Promise<FlowOverview> {
  const from = idAt(new Date((await databaseTime(sql)).getTime() - seconds * 1_000));
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
  return { seconds, ...row };
}
