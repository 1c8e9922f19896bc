/** In a burst: the last batch of a class, and which e-shops are attempted beside it. Pure. */
import type { SchedulerOptions } from '../concurrency/settings.ts';
import type { QueuedDelivery } from '../db/outbox/outbox.ts';

/** The last batch of a class. */
interface LastBatch {
  /** @param deliveries all of the claim, in the batch or not */
  claimed(batchId: string, deliveries: readonly Pick<QueuedDelivery, 'eshopId' | 'batchId'>[]): void;
  /** Whether the next one must: the last has not begun, or only just, and another would hold few deliveries. */
  mustWait(): boolean;
  /** The e-shops that cause the burst; null where some in the batch have only a few deliveries, so that all are treated alike. */
  crowd(): ReadonlySet<number> | null;
}

/**
 * @param hasToBegin whether a batch has been started and has not begun
 * @param few the most deliveries of an e-shop in a batch that do not make it part of the crowd; 0: no e-shop is beside the burst
 * @param now in milliseconds, on a clock that does not jump
 */
export function createLastBatch(
  hasToBegin: (batchId: string) => boolean,
  { tickMs, idleAfterMs }: Pick<SchedulerOptions, 'tickMs' | 'idleAfterMs'>,
  few: number,
  now: () => number = () => performance.now(),
): LastBatch {
  let last = '';
  let claimedAt = Number.NEGATIVE_INFINITY;
  let crowd: ReadonlySet<number> | null = null;
  let crowdAt = Number.NEGATIVE_INFINITY;
  return {
    claimed(batchId, deliveries) {
      last = batchId;
      claimedAt = now();
      const counts = new Map<number, number>();
      for (const { eshopId, batchId: of } of deliveries)
        if (of === batchId) counts.set(eshopId, (counts.get(eshopId) ?? 0) + 1);
      // A crowd that only pauses stays one: what it writes next would fill the places of the others.
      if (counts.size === 0 && claimedAt - crowdAt < idleAfterMs) return;
      crowdAt = claimedAt;
      const isOfFew = few > 0 && [...counts.values()].every((count) => count > few);
      crowd = isOfFew ? new Set(counts.keys()) : null;
    },
    mustWait: () => hasToBegin(last) || now() - claimedAt < tickMs,
    crowd: () => crowd,
  };
}
