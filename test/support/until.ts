/** How long anything may take on a busy machine, in milliseconds. If all is well, nothing takes this long. */
export const PATIENCE_MS = 240_000;

/** The time between two checks, in milliseconds: a twentieth of the elapsed time, within these bounds. */
const [LEAST_MS, MAX_WAIT_MS] = [20, 100];

/** Checks until the result is neither undefined nor false. @throws Error after `timeoutMs` */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  for (const start = Date.now(); ; ) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    const waitedMs = Date.now() - start;
    if (waitedMs > timeoutMs) throw new Error(`Waited ${timeoutMs} ms for ${what}.`);
    const pauseMs = Math.min(MAX_WAIT_MS, Math.max(LEAST_MS, waitedMs / 20));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
