/** Batch mode: whether deliveries get workflows of their own, or many of them one together. Pure. */
import { type SchedulerOptions, schedulerDefaults } from '../concurrency/settings.ts';

/** `auto`: batches in a rush, each delivery's own workflow otherwise. */
export type FirstAttempts = 'auto' | 'each' | 'batch';

/** What a claim found. */
export interface Found {
  readonly deliveries: number;
  /** More waits that could have been claimed. */
  readonly more: boolean;
  /** How long the oldest of them has been waiting, in milliseconds. */
  readonly waitedMs: number;
}

/** Decides by what the claims find, for one class of deliveries. */
export interface Mode {
  batches(): boolean;
  claimed(found: Found): void;
}

/** @param now in milliseconds, on a clock that does not jump */
export function createMode(
  setting: FirstAttempts,
  { rushAfterMs, calmDeliveries, calmMs }: SchedulerOptions = schedulerDefaults,
  now: () => number = () => performance.now(),
): Mode {
  let rush = false;
  let since = 0;
  let lately: { readonly at: number; readonly deliveries: number }[] = [];
  return {
    batches: () => setting === 'batch' || (setting === 'auto' && rush),
    claimed({ deliveries, more, waitedMs }) {
      const at = now();
      lately = [...lately.filter((each) => at - each.at < calmMs), { at, deliveries }];
      if (!rush) {
        rush = more && waitedMs > rushAfterMs;
        since = at;
      } else if (at - since >= calmMs) {
        rush = more || lately.reduce((sum, each) => sum + each.deliveries, 0) > calmDeliveries;
      }
    },
  };
}
