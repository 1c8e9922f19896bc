/**
 * Reads what is overdue: attempts of deliveries that Temporal has, the queue, and deliveries that wait for their turn
 * in their record. Postgres knows it all, whatever has died. Indexes of open and of waiting rows find it.
 */
import type { Sql } from './connection/pool.ts';
import { readLastClaims } from './outbox/last-claims.ts';
import { attemptClasses } from './outbox/notify.ts';
import { placeOf, predecessors } from './outbox/ordering.ts';
import { CLASS } from './outbox/outbox.ts';
import { isPaused, makesAttempts } from './pauses.ts';
import { hasAttemptUnderWay, isOpen, keepsOrdering } from './predicates.ts';

/**
 * This many of the attempts that are due first are looked at: most may be under way. Too low: if more are under way
 * than this, overdue attempts behind them are not seen. Too high: each costs a lookup.
 */
const LOOKED_AT = 1_000;

/** The classes that can be claimed, except of delivered ones, which wait for the end of a burst. */
export const queueClasses = [...attemptClasses, 'undelivered'] as const;
/** For how long the first due delivery of each class has been due, in seconds; 0 if none is. */
type DueSeconds = Readonly<Record<(typeof queueClasses)[number], number>>;

/** The overdue attempts and deliveries. */
export interface Overdue {
  /**
   * How late the first due attempt of a delivery that Temporal has is, in seconds; 0 if none is due. A delivery is
   * not due while an inactive or paused webhook or an operator holds it, nor while it waits for a limit, which moves
   * its time.
   */
  readonly attemptSeconds: number;
  readonly queue: DueSeconds;
  /** How long ago a worker last asked for deliveries of each class, in seconds; absent if none ever did. */
  readonly lastClaims: Readonly<Partial<DueSeconds>>;
  /**
   * Deliveries that wait for their turn although no open delivery of their record is ahead: the relay releases them.
   * If that takes longer than a moment, the relay is failing.
   */
  readonly stuck: readonly string[];
}

/** Reads it. */
export async function readOverdue(sql: Sql): Promise<Overdue> {
  return {
    attemptSeconds: await readAttempts(sql),
    queue: await readQueue(sql),
    lastClaims: await readLastClaims(sql),
    stuck: await readStuck(sql),
  };
}

async function readAttempts(sql: Sql): Promise<number> {
  const next = sql`greatest(d.dispatched_at, d.last_attempt_at, d.next_attempt_at)`;
  const [row] = await sql<{ seconds: number | null }[]>`
    with late as materialized (
      select d.id, d.webhook_id, ${next} as at from deliveries d
      -- By the index of the next step: a late one is checked again within an hour.
      where ${isOpen(sql)} and d.dispatched_at is not null
        and greatest(d.check_at, d.dispatched_at, d.last_attempt_at, d.next_attempt_at) < now() + interval '1 hour'
        and ${next} < now() and d.operator_stop is null),
    due as materialized (
      -- A webhook that was activated, or whose pause is over, no longer holds its deliveries: they are due from then on.
      select l.id, greatest(l.at, w.generation_at, w.paused_until) as at
      from late l join webhooks w on w.id = l.webhook_id
      where ${makesAttempts(sql, 'w')} and w.deleted_at is null
        and not exists (select from changes_to_signal b where b.kind = 'webhookChanged' and b.webhook_id = w.id)
      order by at limit ${LOOKED_AT})
    select extract(epoch from now() - min(due.at))::float8 as seconds
    from due where not ${hasAttemptUnderWay(sql, 'due')}`;
  return row?.seconds ?? 0;
}

/** Each webhook with waiting deliveries is one step in the index `deliveries_waiting`, as for a claim. */
async function readQueue(sql: Sql): Promise<DueSeconds> {
  // A delivery of a paused recovery is not due; another recovery of the same webhook may be running.
  const waiting = sql`d.dispatched_at is null and d.class <= ${CLASS.undelivered}::smallint and not (
    d.class = ${CLASS.recovered} and exists (select from recoveries r where r.id = d.recovery_id and r.state = 'paused'))`;
  const order = sql`d.class, d.eshop_id, d.webhook_id, d.due_at`;
  const rows = await sql<{ class: number; seconds: number }[]>`
    with recursive firsts as (
      (select ${order} from deliveries d where ${waiting} order by ${order} limit 1)
      union all
      select next.* from firsts f cross join lateral (
        select ${order} from deliveries d
        where ${waiting} and (d.class, d.eshop_id, d.webhook_id) > (f.class, f.eshop_id, f.webhook_id)
        order by ${order} limit 1) next)
    select class, extract(epoch from now() - min(greatest(f.due_at, w.paused_until)))::float8 as seconds
    from firsts f join webhooks w on w.id = f.webhook_id
    where f.due_at < now() and (class = ${CLASS.undelivered} or ${isPaused(sql, 'w')} is not true)
    group by class`;
  const seconds = new Map(rows.map((row) => [row.class, row.seconds]));
  const of = (name: (typeof queueClasses)[number]) => seconds.get(CLASS[name]) ?? 0;
  return {
    fresh: of('fresh'),
    retry: of('retry'),
    bulk: of('bulk'),
    recovered: of('recovered'),
    undelivered: of('undelivered'),
  };
}

/** The stuck deliveries that were created first: most of the later ones wait behind them. */
async function readStuck(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with waiting as materialized (
      select d.id, d.ordering_key, d.sequence, d.webhook_id from deliveries d
      where d.class = ${CLASS.blocked}::smallint and d.dispatched_at is null order by d.id limit ${LOOKED_AT})
    select d.id from waiting d join webhooks w on w.id = d.webhook_id
    where (w.active or w.deleted_at is not null)
      and (not ${keepsOrdering(sql, 'w')} or not exists (select ${predecessors(sql, placeOf(sql))}))`;
  return rows.map(({ id }) => id);
}
