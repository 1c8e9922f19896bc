/** The weeks that need partitions, and the partitions that have expired. */
import { DEFAULT, oldestWeek, type Partition } from '../db/retention/partitions.ts';
import { WEEK_MS, weekOf, weeksBetween } from '../domain/weeks.ts';

/** How far ahead partitions are made: after weeks without a worker there is still the next one. */
const WEEKS_AHEAD = 4;

/**
 * @param now by the database's clock
 * @returns the Mondays of weeks without partitions, and the partitions that hold nothing younger than the retention
 */
export function planOf(partitions: readonly Partition[], now: Date, retentionMs: number) {
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
