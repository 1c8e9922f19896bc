import { rename, stat } from 'node:fs/promises';

/** The size at which a log is rotated, in bytes. */
const MAX_LOG_BYTES = 10 * 1024 * 1024;

/**
 * Renames a log of more than 10 MiB to `<path>.1`. Call it before the server starts: a running one keeps writing to
 * the renamed file.
 */
export async function rotateLog(path: string): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > MAX_LOG_BYTES) await rename(path, `${path}.1`);
}
