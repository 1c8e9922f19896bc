/** Which weeks need partitions, and which partitions are past their time. */
import { DEFAULT, furthestBehind, type Partition } from '../db/retention/partitions.ts';
import { WEEK_MS, weekOf, weeksBetween } from '../domain/weeks.ts';

/** So far ahead partitions are made: a Waybill whose worker is away for weeks still has the next one. */
const WEEKS_AHEAD = 4;

interface Plan {
  /** Mondays of the weeks to be made. */
  readonly missing: readonly Date[];
  /** Everything in these was made longer ago than the retention. */
  readonly expired: readonly Partition[];
}

/** @param now by the database's clock */
export function planOf(partitions: readonly Partition[], now: Date, retentionMs: number): Plan {
  const ranges = partitions.filter(({ week }) => week !== DEFAULT);
  const reach = furthestBehind(ranges);
  // A week that ended before the present one is not made any more: nothing is written to it.
  const from = Math.max(reach?.getTime() ?? 0, weekOf(now).getTime());
  const until = new Date(weekOf(now).getTime() + (WEEKS_AHEAD + 1) * WEEK_MS);
  return {
    missing: reach === null ? [] : weeksBetween(new Date(from), until),
    expired: ranges.filter(
      (partition) => (partition.until?.getTime() ?? Infinity) <= now.getTime() - retentionMs,
    ),
  };
}
