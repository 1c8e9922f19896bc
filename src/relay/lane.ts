/** Who makes the first attempts: each delivery's own workflow, or batches. Pure. */

/** `auto`: batches in a rush, each delivery's own workflow otherwise. */
export type FirstAttempts = 'auto' | 'each' | 'batch';

/** What a claim found. */
export interface Waiting {
  /** How long the oldest delivery that could be claimed has been waiting, in milliseconds. */
  readonly waitedMs: number;
  /** More could be claimed than was taken. */
  readonly more: boolean;
  /** More waits than the workers begin within half a second. */
  readonly many: boolean;
  /** What was handed over is not begun promptly. */
  readonly late: boolean;
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

/**
 * What waits longer than this waits because of a rush, in milliseconds. So would what comes when many wait already, and what is
 * handed over while the workers have been late for as long.
 */
const RUSH_MS = 1_000;
/** What comes in while a claim lingers; fewer than this, twice in a row, and nothing much waits. */
const FEW = 8;
const FEW_TIMES = 2;
/**
 * A rush is over once fewer than this came in within so many milliseconds: workflows of their own make so few with ease. What
 * they would not make with ease would begin the next rush, and wait for it.
 */
const CALM = 30;
const CALM_MS = 2_000;

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
  /** Since when deliveries have waited behind each other; null where a rush is only tried for what receivers keep back. */
  let since: number | null = null;
  let lateSince: number | null = null;
  /** What batches took lately. */
  let taken: { readonly at: number; readonly deliveries: number }[] = [];
  const now = () => (setting === 'auto' ? (rush ? 'batch' : 'each') : setting);
  return {
    now,
    rushing: () => now() === 'batch' && few < FEW_TIMES,
    claimed({ waitedMs, more, many, late, keptMs }) {
      lateSince = late ? (lateSince ?? clock()) : null;
      const tooLate = lateSince !== null && clock() - lateSince > RUSH_MS;
      // A few that waited for us, and that this claim took, are no rush.
      const waits = tooLate || ((waitedMs > RUSH_MS || many) && more);
      if (!waits && (keptMs <= RUSH_MS || clock() < retryAt)) return;
      if (waits) since = clock();
      rush = true;
      few = 0;
    },
    batched(deliveries, keptMs) {
      const at = clock();
      few = deliveries < FEW ? few + 1 : 0;
      taken = [...taken.filter((each) => at - each.at < CALM_MS), { at, deliveries }];
      if (!rush || few < FEW_TIMES || keptMs > RUSH_MS) return;
      const lately = taken.reduce((sum, each) => sum + each.deliveries, 0);
      if (since !== null && (at - since < CALM_MS || lately >= CALM)) return;
      rush = false;
      since = null;
      lateSince = null;
      retryAt = at + RETRY_MS;
    },
  };
}
