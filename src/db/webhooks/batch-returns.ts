/**
 * What a batch gives back: to the outbox, for a workflow of its own, or to the queue, for another batch; counted in
 * its row.
 */
import { anyOf } from '../ids.ts';
import type { Sql } from '../pool.ts';
import type { BatchRun } from './batches.ts';
import { windowNotBegun } from './deliveries.ts';

/** `held_by_us`: a row, locked, while this execution holds the batch. */
export function heldBy(sql: Sql, { id, run }: BatchRun) {
  return sql`held_by_us as materialized (select from batches where id = ${id} and run = ${run} for share)`;
}

/** Of a delivery `d` that is updated: back to the outbox, if the batch still holds it. */
export function handingBack(sql: Sql, batch: Pick<BatchRun, 'id'>, condition: ReturnType<typeof sql>) {
  const back = sql`d.batch_id = ${batch.id} and ${condition}`;
  return sql`,
        handed_back_at = case when ${back} then now() else d.handed_back_at end,
        batch_id = case when ${back} then null else d.batch_id end`;
}

/** Counts what was `changed` by this statement in the batch's own row. */
export function countedIn(sql: Sql, batch: Pick<BatchRun, 'id'>) {
  return sql`, counted as (
      update batches set
        delivered = delivered + (select count(*) from changed where state = 'delivered'),
        handed_back = handed_back + (select count(*) from changed where state <> 'delivered' and handed_back_at = now())
      where id = ${batch.id})`;
}

/**
 * Gives deliveries of a batch back to the outbox as they are. Nothing happens where another execution has followed.
 */
export async function handBack(sql: Sql, batch: BatchRun, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    with ${heldBy(sql, batch)},
    ${handedBack(sql, batch, sql`${anyOf(sql, sql`d.id`, ids)} and exists (select from held_by_us)`)}
    select id from changed`;
}

/**
 * Gives all that is open of a batch back to the outbox.
 * @param underWayMs attempts begun less than this ago without a result are left to it
 * @returns how many
 */
export async function handBackAll(sql: Sql, batchId: string, underWayMs = 0): Promise<number> {
  const changed = handedBack(
    sql,
    { id: batchId },
    sql`not exists (
          select from attempts a where a.delivery_id = d.id and a.finished_at is null
            and a.started_at > now() - make_interval(secs => ${underWayMs / 1_000}))`,
  );
  const rows = await sql`with ${changed} select id from changed`;
  return rows.length;
}

/** `changed`: what is handed back, counted in the batch's row. */
function handedBack(sql: Sql, batch: Pick<BatchRun, 'id'>, condition: ReturnType<typeof sql>) {
  return sql`changed as (
      update deliveries d set claimed_until = null, dispatched_at = null
        ${handingBack(sql, batch, sql`true`)}
      where d.batch_id = ${batch.id} and d.state in ('pending', 'retrying') and ${condition}
      returning d.id, d.state, d.handed_back_at)
    ${countedIn(sql, batch)}`;
}

/** How long a delivery that finds no room at its receiver is left alone, in seconds. */
const NO_ROOM_SECONDS = 1;

/**
 * Gives deliveries of a batch back to the queue as they are. Nothing happens where another execution has followed.
 */
export async function putBack(sql: Sql, batch: BatchRun, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    with ${heldBy(sql, batch)},
    changed as (
      update deliveries d set batch_id = null, dispatched_at = null,
        claimed_until = now() + make_interval(secs => ${NO_ROOM_SECONDS}), ${windowNotBegun(sql)}
      where d.batch_id = ${batch.id} and d.state in ('pending', 'retrying') and ${anyOf(sql, sql`d.id`, ids)}
        and exists (select from held_by_us)
      returning d.id)
    update batches set put_back = put_back + (select count(*) from changed) where id = ${batch.id}`;
}
