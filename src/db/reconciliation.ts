/** The rows that should have a running workflow, for the reconciler. Times are compared by the database's clock. */
import type { Sql } from './connection/pool.ts';
import { anyOf } from './ids.ts';
import { isPendingMail } from './notices/pending.ts';
import { type DeliveryIdentity, receiverHost } from './outbox/outbox.ts';
import { makesAttempts } from './pauses.ts';
import { isOpen, seconds } from './predicates.ts';
import { MAX_RELEASE_SPREAD_MS, ofSameSecond } from './records/order-release.ts';

/** A delivery whose workflow may be started again. */
export interface AttemptedDelivery extends DeliveryIdentity {
  /** Recorded attempts: the workflow waits out the rest of the current wait, and continues after them. */
  readonly attemptsMade: number;
}

export interface DispatchedDelivery extends AttemptedDelivery {
  /** The times that its next step had to wait for. */
  readonly dispatchedAt: Date | null;
  readonly lastAttemptAt: Date | null;
  readonly nextAttemptAt: Date | null;
  /** Its webhook is inactive, paused or has a change that is being passed on; or an operator holds the delivery. */
  readonly held: boolean;
  readonly readAt: Date;
}

export interface UnsentMail extends AttemptedDelivery, DeactivationCursor {}

/** A pre-order that should have a running timer. */
export interface PendingRelease extends ReleaseCursor {
  /** Overdue by more than the grace, and by more than others of the same second can delay it. */
  readonly late: boolean;
}

export interface DeliveryCursor {
  /** As Postgres writes it, and sent as text: a `Date` would lose its microseconds. */
  readonly due: string;
  readonly id: string;
}

interface DeactivationCursor {
  readonly webhookId: number;
  readonly generation: number;
}

export interface ReleaseCursor {
  readonly due: string;
  readonly eshopId: number;
  readonly eshopOrderId: string;
}

/** The next check follows after as long again as it has been late, within these bounds. */
const backoff = (sql: Sql, since: ReturnType<typeof sql>) =>
  sql`now() + least(greatest(now() - ${since}, interval '1 minute'), interval '1 hour')`;

/** The expression of the index `deliveries_by_next_step`. */
const nextStep = (sql: Sql) =>
  sql`greatest(d.check_at, d.dispatched_at, d.last_attempt_at, d.next_attempt_at)`;
/** The condition of that index. */
const isDispatched = (sql: Sql) => sql`${isOpen(sql)} and d.dispatched_at is not null`;

/** The columns of a `DispatchedDelivery`, of `deliveries d` joined with `webhooks w`. */
const deliveryColumns = (sql: Sql) => sql`
  d.id, d.eshop_id, d.webhook_id, d.event_type, d.entity_id, d.attempts_made, d.dispatched_at,
  d.last_attempt_at, greatest(d.next_attempt_at, w.paused_until) as next_attempt_at, w.host as receiver_host,
  (not ${makesAttempts(sql, 'w')} and w.deleted_at is null) or coalesce(d.operator_stop = 'hold', false)
    or exists (select from changes_to_signal b where b.kind = 'webhookChanged' and b.webhook_id = w.id) as held, now() as read_at`;

/**
 * Claims open deliveries whose next step is overdue by more than the grace. Each is then left alone for a while:
 * workers share them, and the later a delivery is, the less often it is checked.
 */
export async function claimLateDeliveries(sql: Sql, graceMs: number, limit: number) {
  return await sql<DispatchedDelivery[]>`
    with found as (
      select id from deliveries d
      where ${isDispatched(sql)} and ${nextStep(sql)} < now() - ${seconds(sql, graceMs / 1_000)}
      order by ${nextStep(sql)} limit ${limit} for update skip locked)
    update deliveries d
    set check_at = ${backoff(sql, sql`greatest(d.dispatched_at, d.last_attempt_at, d.next_attempt_at)`)}
    from found, webhooks w
    where d.id = found.id and w.id = d.webhook_id
    returning ${deliveryColumns(sql)}`;
}

/** A page of the open deliveries by their next step. @param asOf from `exactDatabaseTime`: dispatched before it */
export async function dispatchedDeliveries(
  sql: Sql,
  { asOf, after, limit }: { asOf: string; after: DeliveryCursor | null; limit: number },
): Promise<(DispatchedDelivery & DeliveryCursor)[]> {
  return await sql<(DispatchedDelivery & DeliveryCursor)[]>`
    select ${deliveryColumns(sql)}, ${nextStep(sql)}::text as due
    from deliveries d join webhooks w on w.id = d.webhook_id
    where ${isDispatched(sql)} and d.dispatched_at <= ${asOf}::text::timestamptz
      ${after === null ? sql`` : sql`and (${nextStep(sql)}, d.id) > (${after.due}::text::timestamptz, ${after.id}::uuid)`}
    order by ${nextStep(sql)}, d.id limit ${limit}`;
}

/** Those of the given deliveries that are open and dispatched. */
export async function findDispatched(sql: Sql, ids: readonly string[]): Promise<DispatchedDelivery[]> {
  if (ids.length === 0) return [];
  return await sql<DispatchedDelivery[]>`
    select ${deliveryColumns(sql)}
    from deliveries d join webhooks w on w.id = d.webhook_id
    where ${isDispatched(sql)} and ${anyOf(sql, sql`d.id`, ids)}`;
}

/** Those of the given deliveries that have ended and have no pending mail. */
export async function findClosed(sql: Sql, ids: readonly string[]): Promise<AttemptedDelivery[]> {
  if (ids.length === 0) return [];
  return await sql<AttemptedDelivery[]>`
    select d.id, d.eshop_id, d.webhook_id, d.event_type, d.entity_id, d.attempts_made,
           ${receiverHost(sql, sql`d.webhook_id`)}
    from deliveries d
    where ${anyOf(sql, sql`d.id`, ids)} and not ${isOpen(sql)}
      and not exists (select from notices x where x.delivery_id = d.id and ${isPendingMail(sql)})`;
}

/** While the delivery is in the queue, the queue starts its workflow, which sends the mail. */
const hasLeftQueue = (sql: Sql) => sql`
  exists (select from deliveries q where q.id = x.delivery_id and q.dispatched_at is not null)`;
const mailColumns = (sql: Sql) => sql`
  x.webhook_id, x.generation, d.id, d.eshop_id, d.event_type, d.entity_id, d.attempts_made,
  ${receiverHost(sql, sql`x.webhook_id`)}`;

/** Claims mails of deactivations not sent within the grace; they are then left alone for a while, like deliveries. */
export async function claimLateMails(sql: Sql, graceMs: number, limit: number): Promise<UnsentMail[]> {
  return await sql<UnsentMail[]>`
    with found as (
      select x.id from notices x
      where ${isPendingMail(sql)} and greatest(x.check_at, x.at) < now() - ${seconds(sql, graceMs / 1_000)} and ${hasLeftQueue(sql)}
      order by greatest(x.check_at, x.at) limit ${limit} for update skip locked)
    update notices x set check_at = ${backoff(sql, sql`x.at`)}
    from found, deliveries d
    where x.id = found.id and d.id = x.delivery_id
    returning ${mailColumns(sql)}`;
}

export async function unsentMails(sql: Sql, options: { after: DeactivationCursor | null; limit: number }) {
  const { after, limit } = options;
  return await sql<UnsentMail[]>`
    select ${mailColumns(sql)} from notices x join deliveries d on d.id = x.delivery_id
    where ${isPendingMail(sql)} and ${hasLeftQueue(sql)}
      ${after === null ? sql`` : sql`and (x.webhook_id, x.generation) > (${after.webhookId}::int, ${after.generation}::int)`}
    order by x.webhook_id, x.generation limit ${limit}`;
}

export async function isMailUnsent(sql: Sql, deactivation: DeactivationCursor): Promise<boolean> {
  const rows = await sql`
    select from notices x
    where ${isPendingMail(sql)} and x.webhook_id = ${deactivation.webhookId} and x.generation = ${deactivation.generation}`;
  return rows.length > 0;
}

/** A pre-order with a release time, and no change left to pass on. */
const waiting = (sql: Sql) => sql`
  o.status = 'preOrder' and o.release_at is not null
  and not exists (
    select from changes_to_signal b
    where b.kind = 'orderReleaseChanged' and b.eshop_id = o.eshop_id and b.eshop_order_id = o.eshop_order_id)`;

/** A page of the waiting pre-orders, the first due first. @param options.lateOnly those overdue beyond the grace */
export async function pendingReleases(
  sql: Sql,
  options: { graceMs: number; lateOnly: boolean; after: ReleaseCursor | null; limit: number },
): Promise<PendingRelease[]> {
  const { graceMs, lateOnly, after, limit } = options;
  // The timer waits for the clock that is behind, this machine's or the database's (`readReleaseTime`).
  const present = sql`least(now(), ${new Date()})`;
  const past = sql`o.release_at < ${present} - ${seconds(sql, graceMs / 1_000)}`;
  const alone = sql`not exists (
    select from orders s where ${ofSameSecond(sql)} and s.eshop_order_id <> o.eshop_order_id)`;
  const spread = seconds(sql, (graceMs + MAX_RELEASE_SPREAD_MS) / 1_000);
  const overdue = sql`${past} and (${alone} or o.release_at < ${present} - ${spread})`;
  const place = sql`o.release_at, o.eshop_id, o.eshop_order_id`;
  const isLater = (last: ReleaseCursor) =>
    sql`and (${place}) > (${last.due}::text::timestamptz, ${last.eshopId}::int, ${last.eshopOrderId})`;
  return await sql<PendingRelease[]>`
    select o.eshop_id, o.eshop_order_id, ${overdue} as late, o.release_at::text as due from orders o
    where ${waiting(sql)} ${lateOnly ? sql`and ${past}` : sql``} ${after === null ? sql`` : isLater(after)}
    order by ${place} limit ${limit}`;
}

export async function isReleasePending(sql: Sql, eshopId: number, eshopOrderId: string): Promise<boolean> {
  const rows = await sql`
    select from orders o where ${waiting(sql)} and o.eshop_id = ${eshopId} and o.eshop_order_id = ${eshopOrderId}`;
  return rows.length > 0;
}
