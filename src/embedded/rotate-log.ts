import { rename, stat } from 'node:fs/promises';

/** A log of this size is put aside, in bytes. */
const MOST_BYTES = 10 * 1024 * 1024;

/**
 * Puts a log of more than 10 MiB aside as `<path>.1`. To be called before its server starts: one that runs goes on
 * writing where it began.
 */
export async function rotateLog(path: string): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > MOST_BYTES) await rename(path, `${path}.1`);
}
