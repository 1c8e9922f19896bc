import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits, or until the signal is aborted, whichever is first: an abort is no error here, the caller looks at the
 * signal.
 * @param ref whether the wait keeps the process alive; default true
 */
export async function waitOrStop(
  ms: number,
  signal: AbortSignal,
  { ref = true }: { readonly ref?: boolean } = {},
): Promise<void> {
  // Nothing but the abort rejects it.
  await sleep(ms, undefined, { signal, ref }).catch(() => {});
}

/** Resolves once the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
