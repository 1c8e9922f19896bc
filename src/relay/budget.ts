/**
 * The budget of background calls to Temporal per second, shared equally by the active kinds: workflows of requeued deliveries, changes
 * of webhooks, release timers, recovered deliveries if batches are off. Batches do not count. Halved while overloaded. Pure.
 */
import type { SchedulerOptions } from '../concurrency/settings.ts';

/** The kinds of work that share the budget. */
export type BackgroundWork = 'retries' | 'changes' | 'releases' | 'recovered';

/** The budget of one relay. */
export interface Budget {
  /** How many calls this kind of work may make now. */
  available(work: BackgroundWork): number;
  spend(work: BackgroundWork, calls: number): void;
}

/** The time between two changes of the rate, and how long a kind counts as active after its last call, in milliseconds. */
const ROUND_MS = 1_000;

/**
 * @param overloaded whether starts take much longer than they could; the budget is halved then, down to its least
 * @param now in milliseconds, on a clock that does not jump
 */
export function createBudget(
  overloaded: () => boolean,
  { budgetLeast, budgetMost }: SchedulerOptions,
  now: () => number = () => performance.now(),
): Budget {
  let perSecond = budgetLeast;
  let changedAt = now();
  const shares = new Map<BackgroundWork, { credit: number; at: number; spentAt: number }>();

  function adapt(at: number): void {
    if (at - changedAt < ROUND_MS) return;
    changedAt = at;
    perSecond = overloaded()
      ? Math.max(budgetLeast, perSecond / 2)
      : Math.min(budgetMost, perSecond + (budgetMost - budgetLeast) / 10);
  }

  function shareOf(work: BackgroundWork) {
    const known = shares.get(work);
    if (known !== undefined) return known;
    const share = { credit: 1, at: now(), spentAt: Number.NEGATIVE_INFINITY };
    shares.set(work, share);
    return share;
  }

  return {
    available(work) {
      const at = now();
      adapt(at);
      const share = shareOf(work);
      let active = 1;
      for (const [other, { spentAt }] of shares) if (other !== work && at - spentAt < ROUND_MS) active += 1;
      const rate = perSecond / active;
      // Unused credit expires after a second.
      share.credit = Math.min(Math.max(1, rate), share.credit + (rate * (at - share.at)) / 1_000);
      share.at = at;
      return Math.floor(share.credit);
    },
    spend(work, calls) {
      if (calls === 0) return;
      const share = shareOf(work);
      share.credit -= calls;
      share.spentAt = now();
    },
  };
}
