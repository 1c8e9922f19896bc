/**
 * One signal for several, without `AbortSignal.any`: on Node.js 20 a long-lived signal keeps a reference to each
 * signal ever made of it.
 */

interface EitherSignal {
  /** Aborted when the first of them is. */
  readonly signal: AbortSignal;
  /** Stops following them. */
  release(): void;
}

/** Follows several signals; the caller releases it. */
export function eitherSignal(signals: readonly AbortSignal[]): EitherSignal {
  const either = new AbortController();
  const follow = () => either.abort(signals.find(({ aborted }) => aborted)?.reason);
  for (const signal of signals) signal.addEventListener('abort', follow);
  if (signals.some(({ aborted }) => aborted)) follow();
  return {
    signal: either.signal,
    release() {
      for (const signal of signals) signal.removeEventListener('abort', follow);
    },
  };
}
