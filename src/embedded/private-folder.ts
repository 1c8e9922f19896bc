/** Closes `DATA_DIR` to the other users of the machine, and tells whether one of them can enter a folder. */
import { chmod, chown, readdir, stat } from 'node:fs/promises';
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

/** The first folder on the path, including `path` itself, that the user cannot enter, or null. */
export async function inaccessibleFolder(path: string, user: User): Promise<string | null> {
  const folder = resolve(path);
  const parent = dirname(folder);
  const above = parent === folder ? null : await inaccessibleFolder(parent, user);
  if (above !== null) return above;
  const stats = await stat(folder).catch(() => null);
  if (stats === null || !stats.isDirectory()) return null;
  return (stats.mode & entryBit(stats, user)) === 0 ? folder : null;
}

/** The files and folders that an instance keeps in its folder. */
const INSTANCE_FILES = new Set([
  'demonstration.json',
  'instance.json',
  'lock',
  'lock.socket',
  'mail',
  'operator-consoles.json',
  'postgres',
  'postgres-new',
  'postgres-password',
  'postgres-port',
  'postgres-ready',
  'postgres-superuser-password',
  'postgres.log',
  'postgres.log.1',
  'secret-key',
  'secret-key-previous',
  'temporal',
  'temporal-port',
  'temporal-ui-port',
]);

/** True for our files, also while they are being written. */
export const isInstanceFile = (name: string) =>
  INSTANCE_FILES.has(name) || INSTANCE_FILES.has(name.replace(/^\.(.+)\.[0-9a-f]+$/, '$1'));

/**
 * Lets only its owner into the folder. A folder that also contains other files keeps its mode: it may
 * be shared, and confidential files in it have modes of their own.
 * @param guest a user with folders of its own inside: its group may enter, but not list the folder
 */
export async function restrictFolder(path: string, guest?: User): Promise<void> {
  if (!(await readdir(path)).every(isInstanceFile)) return;
  if (guest === undefined) return await chmod(path, 0o700);
  await chown(path, process.getuid?.() ?? 0, guest.gid);
  await chmod(path, 0o710);
}
