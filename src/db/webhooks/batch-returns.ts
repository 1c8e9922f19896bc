/**
 * What leaves a batch without being delivered. Requeued: it waits for its next attempt, or for a workflow of its own. Deferred: it waits
 * as it was, in its class, since there was no permit. Both are counted in the batch's row.
 *
 * A recovery's deliveries leave its class when they are requeued: with the first attempt their window has begun, so that neither an
 * import nor a pause of the recovery may hold up the retries that were promised.
 */
import { anyOf } from '../ids.ts';
import { NO_ROOM_SECONDS, QUEUE, waitsInQueue } from '../outbox/outbox.ts';
import type { Sql } from '../pool.ts';
import type { BatchRun } from './batches.ts';
import { windowNotBegun } from './deliveries.ts';

/** `held_by_us`: a row, locked, while this execution holds the batch. */
function heldBy(sql: Sql, { id, run }: BatchRun) {
  return sql`held_by_us as materialized (select from batches where id = ${id} and run = ${run} for share)`;
}

/**
 * Of a delivery `d` that is updated: back to the queue, if the batch still holds it.
 * @param nextAttemptAt when its next attempt is due; null: none is, or its workflow has to decide
 */
export function requeueing(
  sql: Sql,
  batch: Pick<BatchRun, 'id'>,
  condition: ReturnType<typeof sql>,
  nextAttemptAt: ReturnType<typeof sql>,
) {
  const back = sql`d.batch_id = ${batch.id} and ${condition}`;
  const soon = waitsInQueue(sql, nextAttemptAt);
  return sql`,
        queue = case when not (${back}) then d.queue when ${soon} then ${QUEUE.retry} else ${QUEUE.workflow} end,
        due_at = case when not (${back}) then d.due_at when ${soon} then ${nextAttemptAt} else now() end,
        batch_id = case when ${back} then null else d.batch_id end`;
}

/** Counts what was `changed` by this statement in the batch's own row. */
export function countedIn(sql: Sql, batch: Pick<BatchRun, 'id'>) {
  return sql`, counted as (
      update batches set
        delivered = delivered + (select count(*) from changed where state = 'delivered'),
        requeued = requeued + (select count(*) from changed where state <> 'delivered' and batch_id is null and dispatched_at is null)
      where id = ${batch.id})`;
}

/**
 * Requeues deliveries of a batch as they are. Nothing happens where another execution has followed.
 */
export async function requeue(sql: Sql, batch: BatchRun, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    with ${heldBy(sql, batch)},
    ${changedBy(sql, batch, sql`${anyOf(sql, sql`d.id`, ids)} and exists (select from held_by_us)`)}
    select id from changed`;
}

/**
 * Requeues all that is open of a batch.
 * @param underWayMs attempts begun less than this ago without a result are left to it
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

/** Releases what has not begun of a batch that could not be started. Was it started all the same, it finds nothing left. */
export async function disband(sql: Sql, batchId: string): Promise<void> {
  await sql`
    update deliveries set batch_id = null, claimed_until = null
    where batch_id = ${batchId} and dispatched_at is null and state in ('pending', 'retrying')`;
}

/** `changed`: what is requeued, counted in the batch's row. */
function changedBy(sql: Sql, batch: Pick<BatchRun, 'id'>, condition: ReturnType<typeof sql>) {
  return sql`changed as (
      update deliveries d set claimed_until = null, dispatched_at = null
        ${requeueing(sql, batch, sql`true`, sql`null::timestamptz`)}
      where d.batch_id = ${batch.id} and d.state in ('pending', 'retrying') and ${condition}
      returning d.id, d.state, d.batch_id, d.dispatched_at)
    ${countedIn(sql, batch)}`;
}

/**
 * Defers deliveries of a batch; where somebody else makes the attempt, until that is over. Nothing happens where another execution has followed.
 */
export async function defer(sql: Sql, batch: BatchRun, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    with ${heldBy(sql, batch)},
    changed as (
      update deliveries d set batch_id = null, dispatched_at = null, claimed_until = null,
        due_at = greatest(now() + make_interval(secs => ${NO_ROOM_SECONDS}),
          (select a.owned_until from attempts a where a.delivery_id = d.id and a.number = d.attempts_made + 1 and a.finished_at is null)),
        ${windowNotBegun(sql)}
      where d.batch_id = ${batch.id} and d.state in ('pending', 'retrying') and ${anyOf(sql, sql`d.id`, ids)}
        and exists (select from held_by_us)
      returning d.id)
    update batches set deferred = deferred + (select count(*) from changed) where id = ${batch.id}`;
}
