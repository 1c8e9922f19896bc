/**
 * One signal for several, without `AbortSignal.any`: on Node.js 20 a long-lived signal keeps a reference to each
 * signal ever made of it.
 */
import { setMaxListeners } from 'node:events';

/** Follows several signals; the caller releases it. */
export function eitherSignal(signals: readonly AbortSignal[]) {
  const either = new AbortController();
  // As many follow one signal as there are streams of pages; Node.js would take more than ten for a leak.
  setMaxListeners(0, ...signals);
  const follow = () => either.abort(signals.find(({ aborted }) => aborted)?.reason);
  for (const signal of signals) signal.addEventListener('abort', follow);
  if (signals.some(({ aborted }) => aborted)) follow();
  return {
    /** Aborted when the first of them is. */
    signal: either.signal,
    release(): void {
      for (const signal of signals) signal.removeEventListener('abort', follow);
    },
  };
}
