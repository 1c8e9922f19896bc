/**
 * The links between the embedded Postgres's libraries: npm's archives hold none, and npm runs no script that would
 * make them.
 */
import { lstat, readFile, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import * as v from 'valibot';
import { UserError } from '../lib/user-error.ts';

/** `target` is to be a link to `source`: paths within the package. */
const linksSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.array(v.object({ source: v.string(), target: v.string() })),
);

/**
 * Makes the links that are missing.
 * @param folder the folder of the package for this platform
 * @throws UserError if it cannot be written
 */
export async function makeLinks(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8');
  for (const { source, target } of v.parse(linksSchema, list)) {
    const path = join(folder, target);
    // Looked for first: the folder may be read-only.
    if ((await lstat(path).catch(() => null)) !== null) continue;
    await symlink(relative(dirname(target), source), path).catch((error: NodeJS.ErrnoException) => {
      // Another start has just made it.
      if (error.code === 'EEXIST') return;
      throw new UserError(
        `The embedded Postgres needs links between its libraries, and they cannot be created in ${dirname(path)}: start Waybill once as a user who can write there, or set DATABASE_URL.`,
      );
    });
  }
}
