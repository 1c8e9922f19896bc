/**
 * Who makes the first attempts: each delivery's own workflow, or batches. Pure.
 * @module
 */

/** `auto`: batches in a rush, each delivery's own workflow otherwise. */
export type FirstAttempts = 'auto' | 'each' | 'batch';

/** What a claim found. */
export interface Waiting {
  /** How long the oldest delivery that could be claimed has been waiting, in milliseconds. */
  readonly waitedMs: number;
  /** More could be claimed than was taken. */
  readonly more: boolean;
  /** More waits than the workers begin within a second. */
  readonly many: boolean;
  /** How long the oldest delivery has been waiting of which the receiver has as much in flight as it may, likewise. */
  readonly keptMs: number;
}

/** Decides by what the claims find. */
export interface Lane {
  now(): 'each' | 'batch';
  /** Whether batches are being made of much that waits: everything else has to be brief. */
  rushing(): boolean;
  /** After a claim of deliveries that get their own workflows. */
  claimed(found: Waiting): void;
  /**
   * After the claim of a batch.
   * @param keptMs of what the claim kept back, as in {@link Waiting}
   */
  batched(deliveries: number, keptMs: number): void;
}

/** What waits longer than this waits because of a rush, in milliseconds; so does what would have to. */
const RUSH_MS = 1_000;
/** What comes in while a claim lingers; fewer than this, twice in a row, and the rush is over. */
const FEW = 8;
const FEW_TIMES = 2;

/**
 * What a receiver's own bound keeps back is a rush only where batches move it: that is tried, and not again for so many
 * milliseconds where they do not.
 */
const RETRY_MS = 5_000;

/**
 * Makes the decision of one relay.
 * @param clock in milliseconds, one that does not jump
 */
export function createLane(setting: FirstAttempts, clock: () => number = () => performance.now()): Lane {
  let rush = false;
  let few = FEW_TIMES;
  let retryAt = Number.NEGATIVE_INFINITY;
  const now = () => (setting === 'auto' ? (rush ? 'batch' : 'each') : setting);
  return {
    now,
    rushing: () => now() === 'batch' && few < FEW_TIMES,
    claimed({ waitedMs, more, many, keptMs }) {
      // A few that waited for us, and that this claim took, are no rush.
      const waits = (waitedMs > RUSH_MS || many) && more;
      if (!waits && (keptMs <= RUSH_MS || clock() < retryAt)) return;
      rush = true;
      few = 0;
    },
    batched(deliveries, keptMs) {
      few = deliveries < FEW ? few + 1 : 0;
      if (!rush || few < FEW_TIMES || keptMs > RUSH_MS) return;
      rush = false;
      retryAt = clock() + RETRY_MS;
    },
  };
}
