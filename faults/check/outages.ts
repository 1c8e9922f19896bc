/** What an outage puts off. */
import type { Outage } from '../ledger.ts';

/** Whether it touches this time, in milliseconds since 1970. */
export function touches({ from, to }: Outage, since: number, until: number): boolean {
  return to >= since && from <= until;
}

/**
 * When something should have happened, put off by the outages in which it could not; milliseconds since 1970.
 * @param due when it should have happened without any
 * @param since when what led to it began
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
