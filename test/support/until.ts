/** How long a busy machine may take for anything, in milliseconds. Nothing waits as long where all is well. */
export const PATIENCE_MS = 120_000;

/** Asks until the answer is neither undefined nor false. @throws Error after `timeoutMs` */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  for (const end = Date.now() + timeoutMs; ; ) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`Waited ${timeoutMs} ms for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
