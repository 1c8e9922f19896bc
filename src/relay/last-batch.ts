/** In a burst: the last batch of a class, and whose deliveries are attempted beside it. Pure. */
import type { SchedulerOptions } from '../concurrency/settings.ts';
import type { QueuedDelivery } from '../db/outbox/outbox.ts';

/** The last batch of a class. */
interface LastBatch {
  /** @param deliveries of the claim, those that belong to it and others */
  claimed(batchId: string, deliveries: readonly Pick<QueuedDelivery, 'eshopId' | 'batchId'>[]): void;
  /** It has not begun, or only just: a next one would be of few deliveries. */
  isFresh(): boolean;
  /** The e-shops that the burst is of; null where there are many, with a few deliveries each, and all that wait are alike. */
  crowd(): ReadonlySet<number> | null;
}

/**
 * @param hasToBegin whether a batch has been started and has not begun
 * @param few deliveries of an e-shop in a batch that are no crowd; 0: nobody is beside the burst
 * @param now in milliseconds, on a clock that does not jump
 */
export function createLastBatch(
  hasToBegin: (batchId: string) => boolean,
  { tickMs }: Pick<SchedulerOptions, 'tickMs'>,
  few: number,
  now: () => number = () => performance.now(),
): LastBatch {
  let last = '';
  let claimedAt = Number.NEGATIVE_INFINITY;
  let crowd: ReadonlySet<number> | null = null;
  return {
    claimed(batchId, deliveries) {
      last = batchId;
      claimedAt = now();
      const counts = new Map<number, number>();
      for (const { eshopId, batchId: of } of deliveries)
        if (of === batchId) counts.set(eshopId, (counts.get(eshopId) ?? 0) + 1);
      const isOfFew = few > 0 && [...counts.values()].every((count) => count > few);
      crowd = isOfFew ? new Set(counts.keys()) : null;
    },
    isFresh: () => hasToBegin(last) || now() - claimedAt < tickMs,
    crowd: () => crowd,
  };
}
