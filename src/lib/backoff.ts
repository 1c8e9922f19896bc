/** Growing waits: each is twice the one before, up to a maximum. */

/** Both bounds in milliseconds. */
export function createBackoff(firstMs: number, longestMs: number) {
  let upcoming = firstMs;
  return {
    next(): number {
      const wait = upcoming;
      upcoming = Math.min(longestMs, wait * 2);
      return wait;
    },
    reset(): void {
      upcoming = firstMs;
    },
  };
}
