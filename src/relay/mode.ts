/** Batch mode: whether each delivery gets its own workflow, or many share one. Pure. */
import type { SchedulerOptions } from '../concurrency/settings.ts';
import type { Claim } from '../db/outbox/claim.ts';

/** A value of FIRST_ATTEMPTS. `auto`: batches in a burst, one by one otherwise, each with its own workflow. */
export type FirstAttemptsSetting = 'auto' | 'each' | 'batch';

/** The result of a claim. */
interface Found extends Omit<Claim, 'deliveries'> {
  readonly deliveries: number;
}

/** Decides from the results of claims, for one class of deliveries. */
interface Mode {
  batches(): boolean;
  claimed(found: Found): void;
}

/** @param now in milliseconds, on a clock that does not jump */
export function createMode(
  setting: FirstAttemptsSetting,
  { burstAfterMs, idleAfterMs, dispatchWindow }: SchedulerOptions,
  now: () => number = () => performance.now(),
): Mode {
  let burst = false;
  /** The start of the period over which `taken` is counted. */
  let since = 0;
  let taken = 0;
  /** Since when each claim has left something; null: the last one left nothing. */
  let fullSince: number | null = null;
  return {
    batches: () => setting === 'batch' || (setting === 'auto' && burst),
    claimed({ deliveries, more, waitedMs }) {
      const at = now();
      taken += deliveries;
      fullSince = more ? (fullSince ?? at) : null;
      const over = at - since >= idleAfterMs;
      if (burst && !over) return;
      // A delivery that waited for its own receiver is old too. Only if claims stay full has it waited behind others.
      const fullMs = fullSince === null ? 0 : at - fullSince;
      burst = burst ? more || taken > 2 * dispatchWindow : Math.min(waitedMs, fullMs) > burstAfterMs;
      since = at;
      taken = 0;
    },
  };
}
