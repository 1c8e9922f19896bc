/** Deliveries that wait in the queue for their workflow. */
import type { Sql } from '../connection/pool.ts';
import { makesAttempts, movedByPauses } from '../pauses.ts';
import { seconds } from '../predicates.ts';
import { readSetting } from '../settings.ts';
import { CLASS, originalClass, unclaimed } from './outbox.ts';

/**
 * If a delivery still waits for its workflow, and its next attempt is due within this time, in seconds, the queue
 * makes the attempt. Too low: attempts may be late, since the search runs in intervals. Too high: deliveries that are
 * about to get their workflow wait longer for it.
 */
const SOON_SECONDS = 10;
/**
 * How long a delivery that was interrupted before its first result waits for its workflow, in seconds. Too low: vain
 * attempts. Too high: more delay.
 */
const INTERRUPTED_SECONDS = 10;
/** The most deliveries that one call moves. Too low: late retries. Too high: a statement that holds up others. */
const MOVED_AT_ONCE = 500;

/**
 * Moves deliveries that wait for their workflow back to the attempts of the queue, since Temporal may be unavailable
 * for a long time: deliveries whose next attempt is due soon, and deliveries whose first attempt was interrupted.
 * After the end of its window a delivery needs its workflow.
 * @param windowMs the window of the retry policy, in milliseconds
 */
export async function retryFromQueue(sql: Sql, windowMs: number): Promise<void> {
  // A literal: with a parameter the planner would not use the index, which has only these.
  const undelivered = sql.unsafe(String(CLASS.undelivered));
  await sql`
    update deliveries m set class = case when m.attempts_made = 0 then ${originalClass(sql, 'm')} else ${CLASS.retry}::smallint end,
      due_at = coalesce(m.next_attempt_at, now())
    where m.id = any(array(
      select d.id from deliveries d
      where d.class = ${undelivered} and d.dispatched_at is null and ${unclaimed(sql, 'd')}
        and (d.next_attempt_at is not null or d.state = 'pending')
        and coalesce(d.next_attempt_at, d.due_at) <= now() + ${seconds(sql, SOON_SECONDS)} and d.operator_stop is null
        and (d.state = 'retrying'
          or d.state = 'pending' and d.attempts_made = 0 and d.due_at < now() - ${seconds(sql, INTERRUPTED_SECONDS)})
        and exists (select from webhooks w where w.id = d.webhook_id and ${makesAttempts(sql, 'w')} and w.deleted_at is null
          and (d.window_started_at is null
            or ${movedByPauses(sql, 'w', sql`d.window_started_at`)} > now() - ${seconds(sql, windowMs / 1_000)}))
      order by coalesce(d.next_attempt_at, d.due_at) limit ${MOVED_AT_ONCE} for update skip locked))`;
}

/**
 * The most deliveries already delivered that wait for their workflow, and how long one of them may wait, in seconds.
 * Too low: a short burst leaves deliveries without a workflow. Too high: after a long burst Temporal is busy for
 * hours.
 */
const MAX_WAITING = 10_000;
const LONGEST_WAIT_SECONDS = 3_600;

/** The setting that holds how many deliveries got no workflow because too many waited. */
const WITHOUT_WORKFLOW = 'delivered without a workflow';

/**
 * Drops the pending workflows of deliveries already delivered if too many of them wait, or have waited too long,
 * first those of the e-shop with the most. Their number is added to the stored count.
 */
export async function limitDelivered(sql: Sql): Promise<void> {
  // Ranking the deliveries is expensive, and needed only in a long burst.
  const [bound] = await sql<{ isExceeded: boolean | null }[]>`
    select count(*) > ${MAX_WAITING} or min(due_at) < now() - ${seconds(sql, LONGEST_WAIT_SECONDS)} as is_exceeded
    from (select due_at from deliveries where class = ${CLASS.delivered} and dispatched_at is null limit ${MAX_WAITING + 1}) d`;
  if (bound?.isExceeded !== true) return;
  await sql`
    with waiting as materialized (
      select d.id, d.due_at,
             row_number() over (partition by d.eshop_id order by d.due_at desc, d.id desc) as nth,
             count(*) over () as total
      from deliveries d where d.class = ${CLASS.delivered} and d.dispatched_at is null and ${unclaimed(sql, 'd')}),
    excess as (
      select id from waiting where due_at < now() - ${seconds(sql, LONGEST_WAIT_SECONDS)}
      union
      (select id from waiting order by nth desc, id
       limit greatest(0, (select max(total) from waiting) - ${MAX_WAITING}))),
    dispatched as (
      update deliveries d set dispatched_at = now(), claimed_until = null, claim_id = null
      where d.id = any(array(select id from excess)) and d.class = ${CLASS.delivered}
        and d.dispatched_at is null and ${unclaimed(sql, 'd')}
      returning d.id)
    insert into settings (name, value)
    select ${WITHOUT_WORKFLOW}, count(*)::text from dispatched having count(*) > 0
    on conflict (name) do update set value = (settings.value::bigint + excluded.value::bigint)::text`;
}

/** How many deliveries already delivered got no workflow because too many waited, since the database was created. */
export async function countWithoutWorkflow(sql: Sql): Promise<number> {
  return Number((await readSetting(sql, WITHOUT_WORKFLOW)) ?? 0);
}
