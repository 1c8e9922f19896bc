/**
 * Carries changes to a webhook over to its open deliveries in the queue, which have no workflow: many at once,
 * so that none needs a workflow for the change.
 */
import type postgres from 'postgres';
import type { EventType } from '../../domain/event-types.ts';
import type { Sql } from '../connection/pool.ts';
import { ending, isOpen } from '../predicates.ts';
import {
  CLASS,
  type DeliveryClass,
  originalClass,
  rescheduledAttempt,
  unclaimed,
  waitUntil,
} from './outbox.ts';

/** A webhook with its e-shop. */
interface OfEshop {
  readonly eshopId: number;
  readonly webhookId: number;
}

/** The most deliveries that one call changes. */
export const PAGE_WITHOUT_WORKFLOW = 500;

/**
 * The webhook's deliveries `d` of some classes that have no workflow, as SQL: class by class, in the order of the
 * index of waiting ones. Otherwise each call would read all open deliveries of the webhook, and most have a workflow.
 * @param condition with the webhook as `w`
 */
const waitingOf = (
  sql: Sql,
  { eshopId, webhookId }: OfEshop,
  classes: readonly DeliveryClass[],
  condition: postgres.Fragment,
) => sql`
  select x.id from unnest(${[...classes]}::smallint[]) as c (class) cross join lateral (
    select d.id from deliveries d join webhooks w on w.id = d.webhook_id
    where d.class = c.class and d.eshop_id = ${eshopId} and d.webhook_id = ${webhookId} and d.dispatched_at is null
      and ${isOpen(sql)} ${condition}
    order by d.due_at, d.id limit ${PAGE_WITHOUT_WORKFLOW} for update of d skip locked) x
  limit ${PAGE_WITHOUT_WORKFLOW}`;

/**
 * Cancels the deliveries of a deleted webhook. A delivery that was attempted gets a workflow, which shows its end.
 * @returns the event type of each, {@link PAGE_WITHOUT_WORKFLOW} at most
 */
export async function cancelWithoutWorkflow(sql: Sql, webhook: OfEshop): Promise<EventType[]> {
  const canceled = await sql<{ eventType: EventType }[]>`
    update deliveries set state = 'canceled', canceled_by = 'deletion', ${ending(sql)},
      class = ${CLASS.undelivered}, due_at = now(),
      dispatched_at = case when attempts_made = 0 then now() end
    where id in (${waitingOf(sql, webhook, Object.values(CLASS), sql`and ${unclaimed(sql, 'd')}`)})
    returning event_type`;
  return canceled.map(({ eventType }) => eventType);
}

/**
 * For a webhook that was activated: deliveries that wait for a workflow and were never attempted, because the webhook
 * was inactive, wait for an attempt again, in the class in which they were written.
 * @returns how many, {@link PAGE_WITHOUT_WORKFLOW} at most
 */
export async function requeueHeld(sql: Sql, webhook: OfEshop): Promise<number> {
  const held = sql`
    and d.state = 'pending' and d.attempts_made = 0 and d.operator_stop is null and ${unclaimed(sql, 'd')}`;
  const queued = await sql`
    update deliveries set class = ${originalClass(sql, 'deliveries')}, due_at = now()
    where id in (${waitingOf(sql, webhook, [CLASS.undelivered], held)})`;
  return queued.count;
}

/**
 * For a webhook that was activated or moved: deliveries that were attempted before that get their next attempt at
 * once, but not sooner after their last attempt than the policy's first wait.
 * @param firstWaitMs the policy's first wait, in milliseconds
 * @returns how many, {@link PAGE_WITHOUT_WORKFLOW} at most
 */
export async function bringForward(sql: Sql, webhook: OfEshop, firstWaitMs: number): Promise<number> {
  const { soonest, isLater } = rescheduledAttempt(sql, firstWaitMs);
  const { deliveryClass, dueAt } = waitUntil(sql, soonest);
  const later = sql`and ${isLater} and ${unclaimed(sql, 'd')}`;
  const moved = await sql`
    update deliveries d set next_attempt_at = ${soonest}, class = ${deliveryClass}, due_at = ${dueAt}
    where d.id in (${waitingOf(sql, webhook, [CLASS.retry, CLASS.undelivered], later)})`;
  return moved.count;
}

/** Whether deliveries of the webhook are still in the queue: a process may be attempting them. */
export async function hasDeliveriesWithoutWorkflow(sql: Sql, { eshopId, webhookId }: OfEshop) {
  const rows = await sql`
    select from unnest(${Object.values(CLASS)}::smallint[]) as c (class) cross join lateral (
      select from deliveries d
      where d.class = c.class and d.eshop_id = ${eshopId} and d.webhook_id = ${webhookId} and d.dispatched_at is null
        and ${isOpen(sql)}
      order by d.due_at, d.id limit 1) x
    limit 1`;
  return rows.length > 0;
}
