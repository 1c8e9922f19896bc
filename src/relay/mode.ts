/** Batch mode: whether deliveries get workflows of their own, or many of them one together. Pure. */
import { type SchedulerOptions, schedulerDefaults } from '../concurrency/settings.ts';
import type { Claim } from '../db/outbox/claim.ts';

/** `auto`: batches in a burst, one by one otherwise, each with its own workflow. */
export type FirstAttempts = 'auto' | 'each' | 'batch';

/** What a claim found. */
interface Found extends Omit<Claim, 'deliveries'> {
  readonly deliveries: number;
}

/** Decides by what the claims find, for one class of deliveries. */
interface Mode {
  batches(): boolean;
  claimed(found: Found): void;
}

/** @param now in milliseconds, on a clock that does not jump */
export function createMode(
  setting: FirstAttempts,
  { burstAfterMs, idleAfterMs, window }: SchedulerOptions = schedulerDefaults,
  now: () => number = () => performance.now(),
): Mode {
  let burst = false;
  /** What was claimed since then. */
  let since = 0;
  let taken = 0;
  /** Each claim since then has left something; null: the last one has not. */
  let fullSince: number | null = null;
  return {
    batches: () => setting === 'batch' || (setting === 'auto' && burst),
    claimed({ deliveries, more, waitedMs }) {
      const at = now();
      taken += deliveries;
      fullSince = more ? (fullSince ?? at) : null;
      const over = at - since >= idleAfterMs;
      if (burst && !over) return;
      // What waited for its own receiver is old too: only where claims stay full it has waited for others.
      const fullMs = fullSince === null ? 0 : at - fullSince;
      burst = burst ? more || taken > 2 * window : Math.min(waitedMs, fullMs) > burstAfterMs;
      since = at;
      taken = 0;
    },
  };
}
