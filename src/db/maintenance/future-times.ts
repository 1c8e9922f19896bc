/**
 * Corrects times that are further ahead than they can be, since the database's clock was set back after they were
 * written: leases, and due times in the queue. Times given by people, such as a pre-order's release, stay.
 */
import type { Pool, Sql } from '../connection/pool.ts';
import { CLASS } from '../outbox/outbox.ts';
import { isOpen, seconds } from '../predicates.ts';
import { readSetting, writeSetting } from '../settings.ts';
import { transaction } from '../transaction.ts';

/**
 * How far ahead a lease may end or a waiting row be due, in seconds: half a minute for a refused start, a minute
 * for a retry in the queue, and a margin for a slow statement.
 */
const MAX_AHEAD_SECONDS = 180;
/** How far ahead the next check of a delivery, an unsent mail or a recovery may be, in seconds. */
const MAX_CHECK_SECONDS = 3_600 + MAX_AHEAD_SECONDS;
/** Workers report the same step if the sizes, and the differences to their clocks, differ by less than this. */
const SAME_STEP_MS = 5_000;
/**
 * How much later a worker that was cut off or stood still may notice the same step, in milliseconds. Too low: the
 * step is applied twice. Too high: an equal step, after the clock was slowly corrected, counts as the same one.
 */
const SAME_TIME_MS = 3_600_000;
/**
 * How long after a step back it is noted at most, in seconds: attempts of this time are left alone. Too low: plans
 * made by the new clock are moved too. Too high: attempts planned shortly before the step stay late by its size.
 */
const NOTED_WITHIN_SECONDS = 10;
const CLOCK_STEP = 'clockStep';

/** @returns how many rows were corrected */
export async function forgetFutureTimes(sql: Sql): Promise<number> {
  const tooFar = (ahead: number) => sql`now() + ${seconds(sql, ahead)}`;
  const far = tooFar(MAX_AHEAD_SECONDS);
  // A lease without end is intended.
  const tooLong = sql`claimed_until > ${far} and claimed_until < 'infinity'`;
  const unleased = sql`claimed_until = case when ${tooLong} then null else claimed_until end`;
  const done = [
    // By class, to use the index `deliveries_waiting`.
    await sql`
      update deliveries set ${unleased}, due_at = case when due_at > ${far} then now() else due_at end,
        next_attempt_at = case when due_at > ${far} and next_attempt_at > now() then now() else next_attempt_at end
      where dispatched_at is null and class = any(${Object.values(CLASS)}::smallint[])
        and (${tooLong} or due_at > ${far})`,
    await sql`
      update changes_to_signal set ${unleased}, due_at = case when kind = 'webhookChanged' then least(due_at, now()) else due_at end
      where ${tooLong} or kind = 'webhookChanged' and due_at > ${far}`,
    // Attempts begun in the future: the owner keeps its full time, and the next attempt its full wait. As an array:
    // for a join the planner expects so many open deliveries that it would read all attempts.
    await sql`
      update attempts set owned_until = now() + (owned_until - started_at)
      where delivery_id = any(array(select id from deliveries where ${isOpen(sql, 'deliveries')}))
        and finished_at is null and started_at > now() and owned_until > ${far}`,
    await sql`
      update deliveries set next_attempt_at = now() + (next_attempt_at - last_attempt_at), last_attempt_at = now()
      where ${isOpen(sql, 'deliveries')} and last_attempt_at > ${far}`,
    // By the expression of the index `deliveries_by_next_step`.
    await sql`
      update deliveries set check_at = least(check_at, now()), dispatched_at = least(dispatched_at, now())
      where ${isOpen(sql, 'deliveries')} and dispatched_at is not null
        and greatest(check_at, dispatched_at, last_attempt_at, next_attempt_at) > ${far}
        and (check_at > ${tooFar(MAX_CHECK_SECONDS)} or dispatched_at > ${far})`,
    await sql`update recoveries set ${unleased} where ${tooLong}`,
    await sql`update recoveries set check_at = now() where check_at > ${tooFar(MAX_CHECK_SECONDS)}`,
    await sql`update notices set check_at = now() where check_at > ${tooFar(MAX_CHECK_SECONDS)} and outcome is null`,
    await sql`update notices set merging_until = null where merging_until > ${far} and outcome is null`,
  ];
  return done.reduce((sum, { count }) => sum + count, 0);
}

export interface ClockStep {
  /** When it was noticed, by the clock after the step. */
  readonly at: Date;
  /** Its size; negative: back. */
  readonly ms: number;
  /** The database's clock after the step minus that of the machine that noticed it, in milliseconds. */
  readonly differenceMs: number;
}

/**
 * Records a step once, however many workers notice it, and moves the attempts that were planned before the step:
 * otherwise a step ahead would make them early, and a step back late. After a step ahead, the windows begun before it
 * are moved as well, so that none of them ends.
 */
export async function recordClockStep(sql: Pool, step: ClockStep): Promise<void> {
  await transaction(sql, async (tx) => {
    const [row] = await tx<{ value: string }[]>`
      insert into settings (name, value) values (${CLOCK_STEP}, '')
      on conflict (name) do update set value = settings.value returning value`;
    const before = stepOf(row?.value ?? '');
    if (before !== null && isSame(before, step)) return;
    const by = seconds(tx, step.ms / 1_000);
    // A retry in the queue is due when its attempt is planned.
    const isRetry = tx`(dispatched_at is null and class = ${CLASS.retry})`;
    if (step.ms > 0)
      await tx`
        update deliveries set window_started_at = window_started_at + ${by},
          next_attempt_at = case when last_attempt_at <= now() - ${by} then next_attempt_at + ${by} else next_attempt_at end,
          due_at = case when ${isRetry} and last_attempt_at <= now() - ${by} then due_at + ${by} else due_at end
        where ${isOpen(tx, 'deliveries')} and window_started_at <= now() - ${by}`;
    // Attempts that seem to be in the future were made before the step.
    else
      await tx`
        update deliveries set next_attempt_at = greatest(now(), next_attempt_at + ${by}),
          last_attempt_at = case when last_attempt_at > now() then last_attempt_at + ${by} else last_attempt_at end,
          due_at = case when ${isRetry} then greatest(now(), due_at + ${by}) else due_at end
        where ${isOpen(tx, 'deliveries')} and next_attempt_at > now()
          and last_attempt_at not between now() - ${NOTED_WITHIN_SECONDS} * interval '1 second' and now()`;
    await writeSetting(tx, CLOCK_STEP, `${step.at.toISOString()} ${step.ms} ${step.differenceMs}`);
  });
}

function isSame(one: ClockStep, other: ClockStep): boolean {
  return (
    Math.abs(one.ms - other.ms) < SAME_STEP_MS &&
    Math.abs(one.differenceMs - other.differenceMs) < SAME_STEP_MS &&
    Math.abs(one.at.getTime() - other.at.getTime()) < SAME_TIME_MS
  );
}

/** The last step noticed; null if there was none. */
export async function lastClockStep(sql: Sql): Promise<ClockStep | null> {
  return stepOf((await readSetting(sql, CLOCK_STEP)) ?? '');
}

function stepOf(value: string): ClockStep | null {
  const [at = '', ms = '', differenceMs = ''] = value.split(' ');
  return at === '' ? null : { at: new Date(at), ms: Number(ms), differenceMs: Number(differenceMs) };
}
