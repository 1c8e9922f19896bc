/** Whether Temporal answers at all: while it does not, first attempts go on without it. Pure. */

/** What starts say of it. */
export interface Silence {
  /** It is asked to start something. */
  asked(): void;
  /** It has answered something. */
  answered(): void;
  /** It was asked for something so long ago, and has answered nothing since. */
  lasts(): boolean;
}

/**
 * @param afterMs how long it may take, in milliseconds
 * @param now in milliseconds, on a clock that does not jump
 */
export function createSilence(afterMs: number, now: () => number = () => performance.now()): Silence {
  /** The first question that nothing has followed. */
  let since: number | null = null;
  return {
    asked() {
      since ??= now();
    },
    answered() {
      since = null;
    },
    lasts: () => since !== null && now() - since > afterMs,
  };
}
