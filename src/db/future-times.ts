/**
 * Times that lie further ahead than they can be, since the database's clock was set back after they were written: leases, and when
 * what waits in the queue is due. Times that people give, such as a pre-order's release, are never touched.
 */
import { QUEUE } from './outbox/outbox.ts';
import type { Sql } from './pool.ts';
import { readSetting, writeSetting } from './settings.ts';

/**
 * How far ahead a lease ends, or what waits is due, at most, in seconds: half a minute for a refused start, a minute for a retry
 * that waits in the queue, and some time for a statement that took long.
 */
const MOST_AHEAD_SECONDS = 180;
/** How far ahead the next look at an unsent mail or a recovery is at most, in seconds. */
const MOST_CHECK_SECONDS = 3_600 + MOST_AHEAD_SECONDS;
/** The setting with the last step that was noticed. */
const CLOCK_STEP = 'clockStep';

/** @returns how many rows can be worked on again */
export async function forgetFutureTimes(sql: Sql): Promise<number> {
  const tooFar = (seconds: number) => sql`now() + make_interval(secs => ${seconds})`;
  const far = tooFar(MOST_AHEAD_SECONDS);
  // One without end is meant so.
  const tooLong = sql`claimed_until > ${far} and claimed_until < 'infinity'`;
  const unleased = sql`claimed_until = case when ${tooLong} then null else claimed_until end`;
  const done = [
    // By class, as the index `deliveries_waiting` has them.
    await sql`
      update deliveries set ${unleased}, due_at = case when due_at > ${far} then now() else due_at end,
        next_attempt_at = case when due_at > ${far} then least(next_attempt_at, now()) else next_attempt_at end
      where dispatched_at is null and queue = any(${Object.values(QUEUE)}::smallint[])
        and (${tooLong} or due_at > ${far})`,
    await sql`
      update outbox set ${unleased}, due_at = case when kind = 'webhookChanged' then least(due_at, now()) else due_at end
      where ${tooLong} or kind = 'webhookChanged' and due_at > ${far}`,
    await sql`update recoveries set ${unleased} where ${tooLong}`,
    await sql`update recoveries set check_at = now() where check_at > ${tooFar(MOST_CHECK_SECONDS)}`,
    await sql`update warnings set check_at = now() where check_at > ${tooFar(MOST_CHECK_SECONDS)} and mailed_at is null`,
    await sql`update deactivations set check_at = now() where check_at > ${tooFar(MOST_CHECK_SECONDS)} and mailed_at is null`,
  ];
  return done.reduce((sum, { count }) => sum + count, 0);
}

/** A step of the database's clock. */
export interface ClockStep {
  /** When it was noticed, by the clock after it. */
  readonly at: Date;
  /** How far; below 0: back. */
  readonly ms: number;
}

export async function noteClockStep(sql: Sql, { at, ms }: ClockStep): Promise<void> {
  await writeSetting(sql, CLOCK_STEP, `${at.toISOString()} ${ms}`);
}

/** The last one that was noticed; null where there was none. */
export async function lastClockStep(sql: Sql): Promise<ClockStep | null> {
  const [at = '', ms = ''] = (await readSetting(sql, CLOCK_STEP))?.split(' ') ?? [];
  return at === '' ? null : { at: new Date(at), ms: Number(ms) };
}
