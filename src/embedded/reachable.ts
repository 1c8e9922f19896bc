/** Whether another user of this machine can enter a folder. */
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** The ids of a user and of its group. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The bit of a folder's mode that lets the user enter it. */
function entryBit(folder: { readonly uid: number; readonly gid: number }, user: User): number {
  if (folder.uid === user.uid) return 0o100;
  return folder.gid === user.gid ? 0o010 : 0o001;
}

/** The first folder on the way to `path`, itself included, that the user cannot enter, or null. */
export async function inaccessibleFolder(path: string, user: User): Promise<string | null> {
  const folder = resolve(path);
  const parent = dirname(folder);
  const above = parent === folder ? null : await inaccessibleFolder(parent, user);
  if (above !== null) return above;
  const found = await stat(folder).catch(() => null);
  if (found === null || !found.isDirectory()) return null;
  return (found.mode & entryBit(found, user)) === 0 ? folder : null;
}
