import { setTimeout as sleep } from 'node:timers/promises';

/** Waits so many milliseconds. @throws the signal's reason, which Node's own timer hides in an error of its own */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
