/** Delays by outages. */
import type { Outage } from '../logbook.ts';

/** Whether it overlaps this period, in milliseconds since 1970. */
export function touches({ from, to }: Outage, since: number, until: number): boolean {
  return to >= since && from <= until;
}

/**
 * When something should have happened, delayed by the outages in which it could not; milliseconds since 1970.
 * @param due when it should have happened without outages
 * @param since when its cause began
 * @param at when it happened
 */
export function withOutages(due: number, since: number, at: number, outages: readonly Outage[]): number {
  let until = due;
  for (const outage of outages) {
    if (!touches(outage, since, at)) continue;
    until = Math.max(until + (outage.to - outage.from), outage.to);
  }
  return until;
}
