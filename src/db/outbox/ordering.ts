/**
 * Ordering, per record (docs/interface.md, D16). Deliveries of the same record have the same `ordering_key`; those of
 * a recovery have one of their own. An ordering group is the deliveries with one key that go to one receiver (scheme,
 * host, port), from webhooks that keep an ordering. A delivery claimed behind an older one of its group waits in the
 * class `CLASS.blocked`. When a delivery ends, the next one of its group may go (`keep-ordering.ts`).
 */
import type postgres from 'postgres';
import { eventTypes } from '../../domain/event-types.ts';
import type { Sql } from '../connection/pool.ts';
import { isPaused } from '../pauses.ts';
import { isGivenUp, isOpen, isUnderWay, keepsOrdering, seconds } from '../predicates.ts';
import { claimedLately } from './last-claims.ts';
import { CLASS, unclaimed } from './outbox.ts';

type Fragment = postgres.Fragment;

/** The kind of record of each event type, as a table with the columns `type` and `kind`, as SQL. */
export const kindsOfRecord = (sql: Sql) => sql`
  unnest(${Object.keys(eventTypes)}::text[], ${Object.values(eventTypes).map(({ entity }) => entity)}::text[])`;

/** A delivery's `ordering_key`, as SQL. It never changes; it is null for a redelivery that an e-shop asked for. */
export const orderingKey = (
  sql: Sql,
  of: {
    readonly eshopId: Fragment;
    readonly kind: Fragment;
    readonly recoveryId: Fragment;
    readonly entityId: Fragment;
  },
) =>
  sql`concat_ws('/', ${of.eshopId}::text, ${of.kind}, coalesce(${of.recoveryId}::text, ''), ${of.entityId})`;

/** The place of a delivery in the ordering, and the receiver of its webhook, by columns or values, as SQL. */
export interface Place {
  readonly key: Fragment;
  readonly sequence: Fragment;
  readonly webhookId: Fragment;
  readonly receiver: Fragment;
}

/** The place of a delivery `d` of a webhook `w`. */
export function placeOf(sql: Sql): Place {
  return {
    key: sql`d.ordering_key`,
    sequence: sql`d.sequence`,
    webhookId: sql`d.webhook_id`,
    receiver: sql`w.receiver`,
  };
}

/**
 * The older open deliveries of a delivery's group that it has to wait for, as `predecessor`. Three of them block
 * nothing once their request is over: a delivery held by an inactive webhook; a delivery whose webhook has moved to
 * another receiver; and, for deliveries of other webhooks, a delivery held by a paused webhook.
 */
export const predecessors = (sql: Sql, { key, sequence, webhookId, receiver }: Place) => sql`
  from deliveries predecessor join webhooks subscribed on subscribed.id = predecessor.webhook_id
  where ${isOpen(sql, 'predecessor')} and predecessor.ordering_key = ${key} and predecessor.sequence < ${sequence}
    and subscribed.ordering <> 'none'
    and (subscribed.receiver = ${receiver} and subscribed.active and subscribed.deleted_at is null
        and (subscribed.id = ${webhookId} or ${isPaused(sql, 'subscribed')} is not true) or exists (
      select from attempts a
      where a.delivery_id = predecessor.id and ${isUnderWay(sql)}
        and (subscribed.receiver = ${receiver} or a.generation <> subscribed.generation)))`;

/** Newer open deliveries of its record at the same webhook, as `successor`; without those about to be canceled. */
export const successors = (sql: Sql, { key, sequence, webhookId }: Place) => sql`
  from deliveries successor
  where successor.ordering_key = ${key} and successor.webhook_id = ${webhookId} and successor.sequence > ${sequence}
    and ${isOpen(sql, 'successor')} and not ${isGivenUp(sql, 'successor')}`;

/**
 * Whether a delivery `d` of a webhook `w` may have to wait or to end; `keepOrdering` decides. A delivery that need
 * not wait now never has to: all older deliveries were committed earlier.
 */
export function isBlocked(sql: Sql) {
  const place = placeOf(sql);
  return sql`
    (${keepsOrdering(sql, 'w')} and (
      not w.active or exists (select ${predecessors(sql, place)})
      or (w.ordering = 'latest' and exists (select ${successors(sql, place)}))))`;
}

/** The delivery of this row waits for its turn in its record. */
export const waitsForTurn = (sql: Sql, delivery: string) => {
  const d = sql(delivery);
  return sql`(${d}.class = ${CLASS.blocked} and ${d}.dispatched_at is null and ${d}.state = 'pending')`;
};

/**
 * Joins a delivery as `d`. If the delivery was superseded, joins the delivery that goes on in its place, through as
 * many steps as it takes.
 */
export const joinSuccessor = (sql: Sql, id: Fragment) => sql`
  left join lateral (
    with recursive successor as (
      select s.* from deliveries s where s.id = ${id}
      union all
      select n.* from successor join deliveries n on n.id = successor.superseded_by)
    select * from successor where superseded_by is null) d on true`;

/**
 * A delivery that has been due in the queue for this long, in seconds, counts as waiting for a limit if its class is
 * claimed. Too low: a delivery about to be attempted seems to wait. Too high: the reason is shown later.
 */
const DUE_SECONDS = 5;

/** A delivery `d` that is due, while a worker claims its class and leaves it. */
const isPassedBy = (sql: Sql) => sql`
  (d.dispatched_at is null
    and d.class <= ${CLASS.recovered}
    and d.class = any(${claimedLately(sql)})
    and ${unclaimed(sql, 'd')}
    and d.due_at < clock_timestamp() - ${seconds(sql, DUE_SECONDS)})`;

/**
 * Why a delivery `d` of a webhook `w` waits for something other than its next attempt, as JSON (docs/interface.md,
 * L14): the first reason that holds; null if an inactive webhook or an operator holds it.
 */
export function waitsFor(sql: Sql) {
  const next = sql`coalesce(d.next_attempt_at, d.due_at)`;
  const isRecoveryPaused = sql`(d.dispatched_at is null
    and exists (select from recoveries r where r.id = d.recovery_id and r.state = 'paused'))`;
  // Deferred by its workflow or in the queue, or unclaimed behind deferred ones. Another owner's attempt defers, too.
  const isLimited = sql`(d.attempts_made = 0
    and not exists (select from attempts begun where begun.delivery_id = d.id)
    and (${next} > clock_timestamp() or ${isPassedBy(sql)}))`;
  // A delivery that was not claimed yet is not marked as waiting. If the one ahead is under way or stopped by an
  // operator, none of its attempts is planned.
  const ahead = sql`
    select json_build_object('reason', 'order', 'deliveryId', predecessor.id, 'since', d.created_at, 'nextAttemptAt',
      case when predecessor.operator_stop is null and predecessor.next_attempt_at > clock_timestamp()
        then predecessor.next_attempt_at end)
    ${predecessors(sql, placeOf(sql))} and w.ordering <> 'none'
    order by predecessor.sequence, predecessor.id limit 1`;
  return sql`
  case
    when not w.active or d.operator_stop is not null or not ${isOpen(sql)} then null
    when ${isPaused(sql, 'w')} then json_build_object(
      'reason', 'pause', 'since', greatest(w.paused_at, d.created_at), 'nextAttemptAt', w.paused_until)
    when d.state = 'pending' then coalesce((${ahead}), case
      when ${waitsForTurn(sql, 'd')} then json_build_object('reason', 'order', 'since', d.created_at)
      when ${isRecoveryPaused} then json_build_object('reason', 'pause', 'since', d.created_at)
      when ${isLimited} then json_build_object(
        'reason', 'limit', 'since', d.created_at, 'nextAttemptAt', case when ${next} > clock_timestamp() then ${next} end)
      end)
  end`;
}
