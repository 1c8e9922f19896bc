/** Waits that grow: each is twice the one before, up to a longest. */

interface Backoff {
  next(): number;
  reset(): void;
}

/** Both bounds in milliseconds. */
export function createBackoff(firstMs: number, longestMs: number): Backoff {
  let upcoming = firstMs;
  const reset = () => {
    upcoming = firstMs;
  };
  return {
    reset,
    next() {
      const wait = upcoming;
      upcoming = Math.min(longestMs, wait * 2);
      return wait;
    },
  };
}
