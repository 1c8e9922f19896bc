/**
 * Retention: makes partitions ahead, and drops old ones, a week at a time; everything open stays. May be
 * interrupted, repeated, and run by several processes at once. A step that fails stops no other.
 *
 * Module retention, which imports db, domain, lib. Begin: `planOf` decides what goes.
 */
import { databaseTime } from '../db/clock.ts';
import type { Pool } from '../db/connection/pool.ts';
import { removeDependents } from '../db/retention/dependents.ts';
import { removeDeliveries, removeEvents } from '../db/retention/old-rows.ts';
import { pagedDelete, type Remove } from '../db/retention/pages.ts';
import {
  countNeeded,
  countOutOfRange,
  DEFAULT,
  dropPartition,
  listPartitions,
  makeWeek,
  oldestWeek,
  type Partition,
} from '../db/retention/partitions.ts';
import { TablesBusy } from '../db/retention/schema-step.ts';
import { eraseSecrets, removeHistory } from '../db/retention/webhook-history.ts';
import { hasSqlstate, UNDEFINED_TABLE } from '../db/sqlstate.ts';
import type { Retained } from '../domain/retention-result.ts';
import { WEEK_MS, weekName, weekOf, weeksBetween } from '../domain/weeks.ts';
import { type Attempt, independentSteps, RetentionFailed } from './steps.ts';

interface RetainOptions {
  /** The least time that events and deliveries are kept, in milliseconds. */
  readonly retentionMs: number;
  /** True: nothing is changed. Default false. */
  readonly dryRun?: boolean;
  /** Ends it early; the next run goes on. */
  readonly signal?: AbortSignal;
  /** For tests; default: the database's clock. */
  readonly now?: Date;
}

/** How far ahead partitions are made: after weeks without a worker there is still the next one. */
const WEEKS_AHEAD = 4;

/**
 * @param now by the database's clock
 * @returns the Mondays of weeks without partitions, and the partitions that hold nothing younger than the retention
 */
function planOf(partitions: readonly Partition[], now: Date, retentionMs: number) {
  const ranges = partitions.filter(({ week }) => week !== DEFAULT);
  const reach = oldestWeek(ranges);
  // Past weeks are not made: nothing is written to them.
  const from = Math.max(reach?.getTime() ?? 0, weekOf(now).getTime());
  const until = new Date(weekOf(now).getTime() + (WEEKS_AHEAD + 1) * WEEK_MS);
  return {
    missing: reach === null ? [] : weeksBetween(new Date(from), until),
    expired: ranges.filter(
      (partition) => (partition.until?.getTime() ?? Infinity) <= now.getTime() - retentionMs,
    ),
  };
}

/** Makes the partitions of the coming weeks. Those that cannot be made now are left to the next run. */
export async function makeAhead(sql: Pool, options: Omit<RetainOptions, 'retentionMs'> = {}) {
  const { now = await databaseTime(sql), dryRun = false } = options;
  const weeks = { made: [], postponed: [] };
  await makeWeeks(sql, now, dryRun, weeks);
  return weeks;
}

/** @param weeks gets what is made, also before a failure */
async function makeWeeks(
  sql: Pool,
  now: Date,
  dryRun: boolean,
  { made, postponed }: { readonly made: string[]; readonly postponed: string[] },
): Promise<void> {
  for (const week of planOf(await listPartitions(sql), now, 0).missing) {
    const busy = await unlessBusy(async () => {
      if (!dryRun) await makeWeek(sql, week);
      made.push(weekName(week));
    });
    if (busy === null) continue;
    // Later weeks wait too: what is missing is looked for only behind the last week.
    postponed.push(`${weekName(week)}: ${busy}`);
    break;
  }
}

/** One run. @throws RetentionFailed at the end if a step failed */
export async function retain(sql: Pool, options: RetainOptions): Promise<Retained> {
  const { now = await databaseTime(sql), retentionMs, dryRun = false, signal } = options;
  const { failures, attempt } = independentSteps();
  const made: string[] = [];
  const postponed: string[] = [];
  await attempt('weeks ahead', () => makeWeeks(sql, now, dryRun, { made, postponed }), undefined);
  const partitions = await attempt('the list of partitions', () => listPartitions(sql), []);
  const dropped: { partition: string; rows: number }[] = [];
  const kept: { partition: string; neededBy: number }[] = [];
  const removed = { deliveries: 0, events: 0 };

  async function clear(table: Partition['table'], week: string, writtenBefore: Date | null): Promise<void> {
    if (dryRun) return;
    const old = { week, writtenBefore, signal };
    if (table === 'deliveries') removed.deliveries += await removeDeliveries(sql, old);
    if (table === 'events') removed.events += await removeEvents(sql, old);
  }

  for (const partition of planOf(partitions, now, retentionMs).expired) {
    if (signal?.aborted === true) break;
    const { table, week, rows } = partition;
    const name = `${table}_${week}`;
    const drop = async () => {
      const neededBy = await countNeeded(sql, partition);
      let outcome: Awaited<ReturnType<typeof dropPartition>> = neededBy > 0 ? 'needed' : 'dropped';
      if (outcome === 'dropped' && !dryRun) outcome = await dropPartition(sql, partition);
      if (outcome === 'dropped') dropped.push({ partition: name, rows });
      if (outcome !== 'needed') return;
      await clear(table, week, null);
      kept.push({ partition: name, neededBy });
    };
    const busy = await attempt(name, () => unlessBusy(drop), null);
    if (busy !== null) postponed.push(`${name}: ${busy}`);
  }
  const cutoff = new Date(now.getTime() - retentionMs);
  for (const { table, week } of partitions.filter(({ week }) => week === DEFAULT)) {
    await attempt(`${table}_${week}`, () => clear(table, week, cutoff), undefined);
  }
  const forgotten = dryRun ? nothing : await forget(sql, now, cutoff, attempt, signal);
  const outOfRange = await attempt('rows out of range', () => countOutOfRange(sql), 0);
  const failed = failures.map(({ step }) => step);
  const done = { made, dropped, kept, removed, forgotten, outOfRange, postponed, failed };
  if (failures.length > 0) throw new RetentionFailed(done, failures);
  return done;
}

const nothing = { importKeys: 0, rows: 0, erased: 0, webhooks: 0 };

/** Removes, row by row, data outside of partitions. */
async function forget(sql: Pool, now: Date, cutoff: Date, attempt: Attempt, signal?: AbortSignal) {
  // A delivery is kept until its week is over.
  const before = new Date(cutoff.getTime() - WEEK_MS);
  const removed = pagedDelete(sql, signal);
  const remove: Remove = (table, ...which) => attempt(table, () => removed(table, ...which), 0);
  const { importKeys, rows: dependents } = await removeDependents(sql, now, before, remove);
  const erased = await attempt('secrets of deleted webhooks', () => eraseSecrets(sql, before, signal), 0);
  const history = () => removeHistory(sql, before, remove);
  const { rows, webhooks } = await attempt('former states of webhooks', history, { rows: 0, webhooks: 0 });
  return { importKeys, rows: dependents + rows, erased, webhooks };
}

/** @returns the reason if nothing could be done, or null */
async function unlessBusy(step: () => Promise<void>): Promise<string | null> {
  try {
    await step();
    return null;
  } catch (error) {
    if (error instanceof TablesBusy) return error.message;
    // Another run dropped the partition in the meantime.
    if (hasSqlstate(error, UNDEFINED_TABLE)) return null;
    throw error;
  }
}
