/**
 * One signal for several, without `AbortSignal.any`: on Node.js 20 a long-lived signal keeps a mark of each signal
 * ever made of it.
 */

interface EitherSignal {
  /** Aborted with the first of them. */
  readonly signal: AbortSignal;
  /** From here on it follows none of them. */
  release(): void;
}

/** Follows several signals; whoever asks for that releases it. */
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
