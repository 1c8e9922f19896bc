import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for a time, or until the signal is aborted if that is earlier: an abort is not an error here, and the caller
 * looks at the signal.
 */
export async function waitOrStop(ms: number, signal: AbortSignal): Promise<void> {
  // Only the abort rejects it.
  await sleep(ms, undefined, { signal }).catch(() => {});
}

/** Resolves once the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
