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
}

/** Decides by what the claims find. */
export interface Lane {
  now(): 'each' | 'batch';
  /** Whether batches are being made of much that waits: everything else has to be brief. */
  rushing(): boolean;
  /** After a claim of deliveries that get their own workflows. */
  claimed(found: Waiting): void;
  /** After the claim of a batch. */
  batched(deliveries: number): void;
}

/** What waits longer than this waits because of a rush, in milliseconds. */
const RUSH_MS = 1_000;
/** What comes in while a claim lingers; fewer than this, twice in a row, and the rush is over. */
const FEW = 8;
const FEW_TIMES = 2;

/** Makes the decision of one relay. */
export function createLane(setting: FirstAttempts): Lane {
  let rush = false;
  let few = FEW_TIMES;
  const now = () => (setting === 'auto' ? (rush ? 'batch' : 'each') : setting);
  return {
    now,
    rushing: () => now() === 'batch' && few < FEW_TIMES,
    claimed({ waitedMs, more }) {
      // A few that waited for us, and that this claim took, are no rush.
      if (waitedMs <= RUSH_MS || !more) return;
      rush = true;
      few = 0;
    },
    batched(deliveries) {
      few = deliveries < FEW ? few + 1 : 0;
      if (few >= FEW_TIMES) rush = false;
    },
  };
}
