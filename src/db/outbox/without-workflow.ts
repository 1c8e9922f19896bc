/**
 * Applies changes of a webhook to its open deliveries in the queue, which have no workflow: many deliveries at once,
 * so that none needs a workflow for the change.
 */
import type { EventType } from '../../domain/event-types.ts';
import type { Sql } from '../pool.ts';
import { CLASS, unclaimed, waitUntil, writtenIn } from './outbox.ts';

/** The most deliveries that one call changes. */
export const PAGE_WITHOUT_WORKFLOW = 500;

/**
 * Cancels the deliveries of a webhook that was deleted. A delivery that was attempted gets a workflow, which shows
 * its end.
 * @returns the event type of each, {@link PAGE_WITHOUT_WORKFLOW} at most
 */
export async function cancelWithoutWorkflow(sql: Sql, webhookId: number): Promise<EventType[]> {
  const canceled = await sql<{ eventType: EventType }[]>`
    update deliveries set state = 'canceled', canceled_by = 'deletion', finished_at = clock_timestamp(),
      next_attempt_at = null, claimed_until = null, claim_id = null, class = ${CLASS.undelivered}, due_at = now(),
      dispatched_at = case when attempts_made = 0 then now() end
    where id in (
      select d.id from deliveries d
      where d.webhook_id = ${webhookId} and d.state in ('pending', 'retrying') and d.dispatched_at is null and ${unclaimed(sql, 'd')}
      order by d.id limit ${PAGE_WITHOUT_WORKFLOW} for update skip locked)
    returning event_type`;
  return canceled.map(({ eventType }) => eventType);
}

/**
 * For a webhook that was activated: deliveries that wait for a workflow and were never attempted, because the webhook
 * was inactive, wait for an attempt again, in the class in which they were written.
 * @returns how many, {@link PAGE_WITHOUT_WORKFLOW} at most
 */
export async function requeueHeld(sql: Sql, webhookId: number): Promise<number> {
  const queued = await sql`
    update deliveries set class = ${writtenIn(sql, 'deliveries')}, due_at = now()
    where id in (
      select d.id from deliveries d
      where d.webhook_id = ${webhookId} and d.state = 'pending' and d.class = ${CLASS.undelivered} and d.attempts_made = 0
        and d.operator_stop is null and d.dispatched_at is null and ${unclaimed(sql, 'd')}
      order by d.id limit ${PAGE_WITHOUT_WORKFLOW} for update skip locked)`;
  return queued.count;
}

/**
 * For a webhook that was activated or moved: deliveries that were attempted before that get their next attempt at
 * once, but not sooner after their last attempt than the policy's first wait.
 * @param firstWaitMs the policy's first wait, in milliseconds
 * @returns how many, {@link PAGE_WITHOUT_WORKFLOW} at most
 */
export async function bringForward(sql: Sql, webhookId: number, firstWaitMs: number): Promise<number> {
  const soonest = sql`greatest(now(), d.last_attempt_at + make_interval(secs => ${firstWaitMs / 1_000}::float8))`;
  const { deliveryClass, dueAt } = waitUntil(sql, soonest);
  const moved = await sql`
    update deliveries d set next_attempt_at = ${soonest}, class = ${deliveryClass}, due_at = ${dueAt}
    where d.id in (
      select d.id from deliveries d join webhooks w on w.id = d.webhook_id
      where d.webhook_id = ${webhookId} and d.state in ('pending', 'retrying') and d.class in (${CLASS.retry}, ${CLASS.undelivered})
        and d.last_generation <> w.generation and d.next_attempt_at > ${soonest} and d.operator_stop is null
        and d.dispatched_at is null and ${unclaimed(sql, 'd')}
      order by d.id limit ${PAGE_WITHOUT_WORKFLOW} for update of d skip locked)`;
  return moved.count;
}

/** Whether deliveries of the webhook are still in the queue: a process may be attempting them. */
export async function hasDeliveriesWithoutWorkflow(sql: Sql, webhookId: number): Promise<boolean> {
  const rows = await sql`
    select from deliveries
    where webhook_id = ${webhookId} and state in ('pending', 'retrying') and dispatched_at is null
    limit 1`;
  return rows.length > 0;
}
