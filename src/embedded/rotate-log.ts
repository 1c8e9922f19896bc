/** The log of an embedded server, which is only appended to. */
import { rename, stat } from 'node:fs/promises';

/** A log of this size is put aside, in bytes. */
const MOST_BYTES = 10 * 1024 * 1024;

/**
 * Puts a log of more than 10 MiB aside as `<path>.1`, in the place of an older one. To be called before its server starts, since
 * one that runs goes on writing where it began. Does nothing where there is none.
 */
export async function rotateLog(path: string): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > MOST_BYTES) await rename(path, `${path}.1`);
}
