/**
 * E-shops that import give way to their imports: on a small machine each would take half of the other's time, while the import's
 * client waits for every line. So batches give their deliveries a share, and more where the machine has time to spare; what is left
 * is delivered when the import is over. Pure.
 */
import type { InFlightLimits } from '../db/outbox/claim.ts';

/** The imports under way, as one relay knows them. */
export interface Imports {
  /** This e-shop imports much just now. */
  heard(eshopId: number): void;
  /** A batch was claimed. */
  claimed(deliveries: readonly { readonly eshopId: number }[]): void;
  /** What the next batch may take. */
  bounded(limits: InFlightLimits): Bounded;
}

/** Limits that leave an import its time. */
export interface Bounded {
  /** The same limits, or with less for the e-shops that import: nothing, once they have had their share. */
  readonly inFlight: InFlightLimits;
  /** Some e-shop has had its share. */
  readonly gaveWay: boolean;
}

/** An import not heard of for this long, in milliseconds, is over: it would have been heard of three times. */
const SILENT_MS = 1_500;
/**
 * Deliveries per second and relay of all e-shops that import together: at first and at least. With fewer, what is left after the
 * import takes longer than the import; with more, the import takes longer.
 */
const LEAST = 600;
/** More than one worker can deliver. */
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

interface Import {
  readonly heardAt: number;
  /** What was claimed is as much as its share is until then. */
  readonly sharedUntil: number;
}

/**
 * @param idleShare of the processors' time, from 0 to 1
 * @param clock in milliseconds, one that does not jump
 */
export function createImports(
  idleShare: () => number,
  clock: () => number = () => performance.now(),
): Imports {
  const underWay = new Map<number, Import>();
  let perSecond = LEAST;
  let steppedAt = Number.NEGATIVE_INFINITY;

  function forgetEnded(now: number): void {
    for (const [eshopId, { heardAt }] of underWay) if (now - heardAt > SILENT_MS) underWay.delete(eshopId);
  }

  /** The first import after a while: what was idle before it says nothing. */
  function begin(now: number): void {
    perSecond = LEAST;
    steppedAt = now;
    idleShare();
  }

  function step(now: number): void {
    if (now - steppedAt < STEP_MS) return;
    steppedAt = now;
    const factor = idleShare() > TO_SPARE ? GROWTH : DECLINE;
    perSecond = Math.min(MOST, Math.max(LEAST, perSecond * factor));
  }

  return {
    heard(eshopId) {
      if (!Number.isInteger(eshopId)) return;
      const now = clock();
      forgetEnded(now);
      if (underWay.size === 0) begin(now);
      underWay.set(eshopId, { heardAt: now, sharedUntil: underWay.get(eshopId)?.sharedUntil ?? now });
    },
    claimed(deliveries) {
      const now = clock();
      for (const [eshopId, { heardAt, sharedUntil }] of underWay) {
        const count = deliveries.filter((delivery) => delivery.eshopId === eshopId).length;
        if (count === 0) continue;
        const takesMs = (count * 1_000 * underWay.size) / perSecond;
        underWay.set(eshopId, { heardAt, sharedUntil: Math.max(now - LOOKED_MS, sharedUntil) + takesMs });
      }
    },
    bounded(limits) {
      const now = clock();
      forgetEnded(now);
      if (underWay.size === 0) return { inFlight: limits, gaveWay: false };
      step(now);
      const eshops = new Map(limits.eshops);
      let gaveWay = false;
      for (const [eshopId, { sharedUntil }] of underWay) {
        const hadItsShare = sharedUntil > now;
        gaveWay ||= hadItsShare;
        const most = Math.min(AT_ONCE, limits.eshops.get(eshopId) ?? limits.eshop);
        eshops.set(eshopId, hadItsShare ? 0 : most);
      }
      return { inFlight: { ...limits, eshops }, gaveWay };
    },
  };
}
