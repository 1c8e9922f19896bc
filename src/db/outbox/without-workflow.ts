/**
 * Open deliveries of a webhook that wait in the outbox, without a workflow: a change of their webhook is applied to
 * them here, many at once, so none needs a workflow for it.
 */
import type { EventType } from '../../domain/event-types.ts';
import type { Sql } from '../pool.ts';
import { CLASS, unclaimed, waitUntil, writtenIn } from './outbox.ts';

/** The most that one call changes. */
export const PAGE_WITHOUT_WORKFLOW = 500;

/**
 * Their webhook was deleted: they are canceled. Those that were attempted get a workflow, which shows it.
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
 * Their webhook was activated: those that wait for a workflow without an attempt, because it was inactive, wait in
 * the queue again as they were written.
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
 * Their webhook was activated or moved: those attempted at the webhook as it was before get their next attempt at
 * once, but not sooner than the policy's first wait after the last.
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

/** Whether some are still in the queue: a process may be attempting them. */
export async function hasDeliveriesWithoutWorkflow(sql: Sql, webhookId: number): Promise<boolean> {
  const rows = await sql`
    select from deliveries
    where webhook_id = ${webhookId} and state in ('pending', 'retrying') and dispatched_at is null
    limit 1`;
  return rows.length > 0;
}
