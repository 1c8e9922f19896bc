/** Ends deliveries under retry that a newer event of their record supersedes (docs/interface.md, D16). */
import type { Pool, Sql } from '../connection/pool.ts';
import { anyOf } from '../ids.ts';
import { ending, hasAttemptUnderWay, isGivenUp, isOpen } from '../predicates.ts';
import { transaction } from '../transaction.ts';
import { reported, type Superseded, settleOrdering } from './keep-ordering.ts';
import { waitsForTurn } from './ordering.ts';
import { CLASS } from './outbox.ts';

/**
 * For a webhook that takes only the latest event. This delivery's next attempt is due: the delivery and its
 * predecessors end if a newer event supersedes them and they are not under way. The newer delivery takes their place.
 * If it was never attempted, it takes over their count of failed attempts and their window, and goes on at once,
 * unless other deliveries of the record stand in between.
 * @returns the deliveries that it ended
 */
export async function supersedeRetries(sql: Pool, id: string): Promise<readonly string[]> {
  const older = await sql<{ id: string }[]>`${replaceable(sql, id)}`;
  if (older.length === 0) return [];
  const ids = older.map((delivery) => delivery.id);
  const rows = await transaction(sql, async (tx) => {
    // Locked by a separate statement: the next one sees an attempt that began in the meantime. All of them are locked
    // before a newer one is: two calls for a record never wait for each other.
    await tx`select from deliveries d where ${anyOf(tx, sql`d.id`, ids)} order by d.id for update`;
    return await replace(tx, id, ids);
  });
  const ended = reported(sql, rows);
  // If this fails, the relay repairs it: these deliveries have ended.
  if (ended.length > 0) await settleOrdering(sql, { records: ended }).catch(() => {});
  return ended;
}

/** The newer deliveries `n` of a delivery `d` that may take its place when the delivery with this id is due. */
const newer = (sql: Sql, id: string) => sql`
  from deliveries n
  where n.ordering_key = d.ordering_key
    and n.webhook_id = d.webhook_id
    and n.sequence > d.sequence
    and ${isOpen(sql, 'n')}
    -- If the ordering became "latest" a moment ago, some are still retried side by side.
    and (${waitsForTurn(sql, 'n')} or n.id = ${id} or n.state = 'retrying' and not ${isGivenUp(sql, 'n')})`;

/** The deliveries to end when this one is due: itself and its predecessors, if there is a newer one. */
const replaceable = (sql: Sql, id: string) => sql`
  select d.id, d.webhook_id, d.ordering_key, d.sequence
  from deliveries due
  join webhooks w on w.id = due.webhook_id and w.ordering = 'latest' and w.deleted_at is null
  join deliveries d on d.webhook_id = due.webhook_id
    and d.sequence <= due.sequence
    and d.ordering_key = due.ordering_key
  where due.id = ${id}
    and ${isOpen(sql)}
    -- A delivery with no attempt left is about to fail, and to deactivate its webhook.
    and (d.id = due.id or d.attempts_made = 0 or d.next_attempt_at is not null)
    and not ${hasAttemptUnderWay(sql)}
    and exists (select ${newer(sql, id)})`;

/** Ends those of the locked deliveries that are still replaceable, and lets the newest take over. */
async function replace(sql: Sql, id: string, locked: readonly string[]) {
  return await sql<Superseded[]>`
    with older as materialized (
      ${replaceable(sql, id)} and ${anyOf(sql, sql`d.id`, locked)}),
    replaced as (
      select d.id, newest.id as newest
      from older d
      cross join lateral (
        select n.id ${newer(sql, id)} order by n.sequence desc limit 1 for update skip locked) newest),
    ended as (
      update deliveries d set
        state = 'superseded',
        superseded_by = replaced.newest,
        ${ending(sql)},
        -- A delivery that was attempted in the queue gets a workflow, which shows its end.
        dispatched_at = case when d.attempts_made = 0 then coalesce(d.dispatched_at, now()) else d.dispatched_at end,
        class = ${CLASS.undelivered},
        due_at = now()
      from replaced
      where d.id = replaced.id and ${anyOf(sql, sql`d.id`, locked)}
      returning d.*),
    -- Two may have begun before the ordering became "latest": the newer delivery takes over the one with more failures.
    most_attempted as (
      select distinct on (superseded_by) * from ended where attempts_made > 0
      order by superseded_by, attempts_made desc, id),
    taken_over as (
      update deliveries n set
        attempts_made = e.attempts_made,
        window_started_at = e.window_started_at,
        last_attempt_at = e.last_attempt_at,
        last_status = e.last_status,
        last_error = e.last_error,
        last_generation = e.last_generation,
        late_ms = e.late_ms,
        due_at = now(),
        state = case when n.id = ${id} then 'retrying' else n.state end,
        next_attempt_at = case when n.id = ${id} then now() end
      from most_attempted e
      where n.id = e.superseded_by and n.attempts_made <= e.attempts_made
        and (${waitsForTurn(sql, 'n')} or n.id = ${id} and n.attempts_made = 0 and not ${hasAttemptUnderWay(sql, 'n')}))
    select id, event_type from ended`;
}
