/**
 * What an import fires gives way to the import: on a small machine each would take half of the other's time, while the import's
 * client waits for every line. So its deliveries get a share, and more where the machine has time to spare; what is left is
 * delivered when the import is over. Other e-shops notice nothing. Pure.
 * @module
 */
import type { InFlightLimits } from '../db/outbox/claim.ts';

/** The imports under way, as one relay knows them. */
export interface Imports {
  /** An import of this e-shop is under way. */
  heard(eshopId: number): void;
  /** A batch was claimed. */
  claimed(deliveries: readonly { readonly eshopId: number }[]): void;
  /** The same limits, or with less for the e-shops that import: nothing, once these have had their share. */
  bounded(limits: InFlightLimits): InFlightLimits;
}

/** An import of which nothing was heard for so long is over, in milliseconds: three times it would have been. */
const SILENT_MS = 1_500;
/**
 * Deliveries per second of all e-shops that import together: at first and at least. With fewer, what is left after the import takes
 * longer than the import; with more, the import takes longer. And more than a worker makes.
 */
const LEAST = 600;
const MOST = 5_000;
/** In flight of one of them at a time: with more in a batch, whoever else has something to deliver would wait for it. */
const AT_ONCE = 250;
/** With more of the processors' time to spare the share grows, with less it shrinks. */
const TO_SPARE = 0.3;
const GROWTH = 1.2;
const DECLINE = 0.8;
/** Between two changes of the share, in milliseconds. */
const STEP_MS = 500;
/** A claim is at most so much later than it could have been, in milliseconds: the share is none the smaller. */
const LOOKED_MS = 250;

/**
 * @param idleShare of the processors' time, from 0 to 1
 * @param clock in milliseconds, one that does not jump
 */
export function createImports(
  idleShare: () => number,
  clock: () => number = () => performance.now(),
): Imports {
  const heardAt = new Map<number, number>();
  let perSecond = LEAST;
  let steppedAt = Number.NEGATIVE_INFINITY;
  /** What was claimed is as much as the share is until then. */
  let sharedUntil = Number.NEGATIVE_INFINITY;

  function forgetEnded(now: number): void {
    for (const [eshopId, at] of heardAt) if (now - at > SILENT_MS) heardAt.delete(eshopId);
    if (heardAt.size === 0) perSecond = LEAST;
  }

  function step(now: number): void {
    if (now - steppedAt < STEP_MS) return;
    steppedAt = now;
    const factor = idleShare() > TO_SPARE ? GROWTH : DECLINE;
    perSecond = Math.min(MOST, Math.max(LEAST, perSecond * factor));
  }

  return {
    heard(eshopId) {
      if (heardAt.size === 0) sharedUntil = clock();
      heardAt.set(eshopId, clock());
    },
    claimed(deliveries) {
      const count = deliveries.filter(({ eshopId }) => heardAt.has(eshopId)).length;
      if (count > 0) sharedUntil = Math.max(clock() - LOOKED_MS, sharedUntil) + (count * 1_000) / perSecond;
    },
    bounded(limits) {
      const now = clock();
      forgetEnded(now);
      if (heardAt.size === 0) return limits;
      step(now);
      const share = sharedUntil <= now ? AT_ONCE : 0;
      const eshops = new Map(limits.eshops);
      for (const eshopId of heardAt.keys())
        eshops.set(eshopId, Math.min(share, limits.eshops.get(eshopId) ?? limits.eshop));
      return { ...limits, eshops };
    },
  };
}
