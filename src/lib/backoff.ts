/** Waits that grow: each is twice the one before, up to a longest. */

/** The waits between tries, in milliseconds. */
export interface Backoff {
  /** The next wait. */
  next(): number;
  /** A try has worked: the waits begin anew. */
  reset(): void;
}

/** Makes the waits; both bounds in milliseconds. */
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
