/**
 * Deliveries that leave a batch undelivered. Requeued: they wait for their next attempt or for a workflow. Deferred: they wait in their
 * class as before, because there was no permit. Both are counted in the batch's row.
 *
 * Deliveries of a recovery leave their class when they are requeued: their window began with the first attempt, so neither an import
 * nor a pause of the recovery may delay the promised retries.
 */
import { anyOf } from '../ids.ts';
import { DEFERRED_SECONDS, waitUntil } from '../outbox/outbox.ts';
import type { Sql } from '../pool.ts';
import type { BatchRun } from './batches.ts';
import { windowNotBegun } from './deliveries.ts';

/** `held_by_us`: a row, locked, while this execution holds the batch. */
function heldBy(sql: Sql, { id, run }: BatchRun) {
  return sql`held_by_us as materialized (select from batches where id = ${id} and run = ${run} for share)`;
}

/**
 * Puts an updated delivery `d` back into the queue, if the batch still holds it.
 * @param nextAttemptAt when its next attempt is due; null: no attempt is due, or its workflow has to decide
 */
export function requeueing(
  sql: Sql,
  batch: Pick<BatchRun, 'id'>,
  condition: ReturnType<typeof sql>,
  nextAttemptAt: ReturnType<typeof sql>,
) {
  const back = sql`d.batch_id = ${batch.id} and ${condition}`;
  const { deliveryClass, dueAt } = waitUntil(sql, nextAttemptAt);
  return sql`,
        class = case when not (${back}) then d.class else ${deliveryClass} end,
        due_at = case when not (${back}) then d.due_at else ${dueAt} end,
        batch_id = case when ${back} then null else d.batch_id end`;
}

/** Counts the deliveries `changed` by this statement in the batch's own row. */
export function countedIn(sql: Sql, batch: Pick<BatchRun, 'id'>) {
  return sql`, counted as (
      update batches set
        delivered = delivered + (select count(*) from changed where state = 'delivered'),
        requeued = requeued + (select count(*) from changed where state <> 'delivered' and batch_id is null and dispatched_at is null)
      where id = ${batch.id})`;
}

/** Requeues deliveries of a batch as they are. Does nothing if another execution has taken the batch. */
export async function requeue(sql: Sql, batch: BatchRun, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    with ${heldBy(sql, batch)},
    ${changedBy(sql, batch, sql`${anyOf(sql, sql`d.id`, ids)} and exists (select from held_by_us)`)}
    select id from changed`;
}

/**
 * Requeues all open deliveries of a batch.
 * @param underWayMs attempts without a result that were begun less than this ago are left to the batch
 * @returns how many
 */
export async function requeueAll(sql: Sql, batchId: string, underWayMs = 0): Promise<number> {
  const changed = changedBy(
    sql,
    { id: batchId },
    sql`not exists (
          select from attempts a where a.delivery_id = d.id and a.finished_at is null
            and a.started_at > now() - make_interval(secs => ${underWayMs / 1_000}))`,
  );
  const rows = await sql`with ${changed} select id from changed`;
  return rows.length;
}

/** Gives back the deliveries not begun of a batch that could not be started. If it was started after all, it finds none left. */
export async function disband(sql: Sql, batchId: string): Promise<void> {
  await sql`
    update deliveries set batch_id = null, claimed_until = null
    where batch_id = ${batchId} and dispatched_at is null and state in ('pending', 'retrying')`;
}

/** `changed`: the requeued deliveries, counted in the batch's row. */
function changedBy(sql: Sql, batch: Pick<BatchRun, 'id'>, condition: ReturnType<typeof sql>) {
  return sql`changed as (
      update deliveries d set claimed_until = null, dispatched_at = null
        ${requeueing(sql, batch, sql`true`, sql`null::timestamptz`)}
      where d.batch_id = ${batch.id} and d.state in ('pending', 'retrying') and ${condition}
      returning d.id, d.state, d.batch_id, d.dispatched_at)
    ${countedIn(sql, batch)}`;
}

/** Defers deliveries of a batch, at least until another owner's time is over. Does nothing if another execution has taken the batch. */
export async function defer(sql: Sql, batch: BatchRun, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    with ${heldBy(sql, batch)},
    changed as (
      update deliveries d set batch_id = null, dispatched_at = null, claimed_until = null,
        due_at = greatest(now() + make_interval(secs => ${DEFERRED_SECONDS}),
          (select a.owned_until from attempts a where a.delivery_id = d.id and a.number = d.attempts_made + 1 and a.finished_at is null)),
        ${windowNotBegun(sql)}
      where d.batch_id = ${batch.id} and d.state in ('pending', 'retrying') and ${anyOf(sql, sql`d.id`, ids)}
        and exists (select from held_by_us)
      returning d.id)
    update batches set deferred = deferred + (select count(*) from changed) where id = ${batch.id}`;
}
