/**
 * The attempts of a delivery's workflow: activities, which Temporal retries by the policy.
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import {
  ActivityFailure,
  type ActivityOptions,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
} from '@temporalio/workflow';
import { attemptOptions, lastChanceOptions } from './delivery-options.ts';
import type { DeliverEventInput, DeliveryActivities } from './delivery-types.ts';
import { type AttemptEnd, isInternal } from './own-failures.ts';

/** Makes the attempts of one delivery. */
export function createAttempts(input: DeliverEventInput) {
  const { deliveryId, policy } = input;

  async function make(options: ActivityOptions, made: number, lastChance: boolean): Promise<AttemptEnd> {
    const { attemptDelivery } = proxyActivities<DeliveryActivities>(options);
    try {
      return await attemptDelivery({ deliveryId, policy, attemptsBefore: made, lastChance });
    } catch (error) {
      if (isCancellation(error)) return { kind: 'canceled' };
      if (!(error instanceof ActivityFailure)) throw error;
      return { kind: isInternal(error) ? 'interrupted' : 'failed' };
    }
  }

  return {
    /**
     * Makes all attempts that the policy still allows.
     * @param made how many attempts have been recorded
     * @param isOver whether to end early; the attempt under way finishes first
     */
    async byPolicy(made: number, windowLeftMs: number, isOver: () => boolean): Promise<AttemptEnd> {
      const scope = new CancellationScope();
      const running = scope.run(() => make(attemptOptions(input, made, windowLeftMs), made, false));
      // No scope of its own: the SDK takes a stack trace of every promise in one, and every delivery would wait for
      // that.
      let ended = false;
      condition(() => ended || isOver()).then(
        () => {
          if (!ended) scope.cancel();
        },
        () => {},
      );
      try {
        return await running;
      } finally {
        ended = true;
      }
    },
    /** Makes the one attempt after a window that Waybill itself has used up. */
    lastChance: (made: number): Promise<AttemptEnd> => make(lastChanceOptions(input), made, true),
  };
}
