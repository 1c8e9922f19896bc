import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for a time, or until the signal is aborted if that is earlier: an abort is not an error here, and the caller
 * looks at the signal.
 * @param ref whether the wait keeps the process alive; default true
 */
export async function waitOrStop(
  ms: number,
  signal: AbortSignal,
  { ref = true }: { readonly ref?: boolean } = {},
): Promise<void> {
  // Only the abort rejects it.
  await sleep(ms, undefined, { signal, ref }).catch(() => {});
}

/** Resolves once the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
