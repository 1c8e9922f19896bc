import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder, and those above it that are missing. Node's own way never ends if a file system reports ENOENT
 * although the folder above exists, as /proc does, and it reports ENOENT for a read-only one.
 * @param mode of the folder itself
 * @throws Error with a `code` if it cannot be made, or something else has its name
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const stats = await stat(path).catch(() => null);
  if (stats?.isDirectory() === true) return;
  const above = dirname(path);
  if (above !== path) await makeFolder(above);
  await mkdir(path, { mode }).catch(async (error: unknown) => {
    // Another process has just made it.
    if (!(await stat(path).catch(() => null))?.isDirectory()) throw error;
  });
}
