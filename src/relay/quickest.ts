/**
 * How much longer a call takes than the same call does at its quickest: a server far away answers late, and is not busy for that.
 * Pure.
 */

/** With each call the quickest one counts for so much less. */
const FORGETTING = 1.002;

/** @returns a function that is given how long each call took, and tells how much longer than the quickest, in milliseconds */
export function beyondTheQuickest(): (ms: number) => number {
  let quickest = Number.POSITIVE_INFINITY;
  return (ms) => {
    quickest = Math.min(ms, quickest * FORGETTING);
    return ms - quickest;
  };
}
