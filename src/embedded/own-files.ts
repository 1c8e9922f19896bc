/**
 * Who may enter `DATA_DIR`, and whose files are read there: they hold keys and passwords, and name the programs that
 * servers run.
 */
import type { Stats } from 'node:fs';
import { chmod, chown, lstat, readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { UserError } from '../lib/user-error.ts';

/** The ids of a user and of its group. */
export interface User {
  readonly uid: number;
  readonly gid: number;
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
const isInstanceFile = (name: string) =>
  INSTANCE_FILES.has(name) || INSTANCE_FILES.has(name.replace(/^\.(.+)\.[0-9a-f]+$/, '$1'));

/** Write permission of the group and of everybody. */
const OTHERS_WRITE = 0o022;
/** Folders of the instance whose files a server reads: settings in them can name programs to run. */
const OF_SERVERS: readonly string[] = ['postgres', 'temporal'];
/** The folders of a server's user, if that is not ours; nothing is ever read from the second. */
const SERVER_USER_DIRS: readonly string[] = ['postgres', 'postgres-new'];
/** The owner and mode of a file or folder. */
type Owned = Pick<Stats, 'uid' | 'mode'>;

/** Whether we trust the files of this user: only our own and root's. */
const isTrusted = (uid: number, me: number) => uid === me || uid === 0;

function untrusted(path: string, { uid, mode }: Owned, me: number): UserError {
  const modeText = `mode ${(mode & 0o7777).toString(8).padStart(4, '0')}`;
  const [why, remedy] = isTrusted(uid, me)
    ? [`can be written by other users (${modeText}): they`, `chmod -R go-w '${path}'`]
    : [
        `belongs to user ${uid} (${modeText}), not to user ${me}, as which Waybill runs: its owner`,
        `chown -R ${me} '${path}'`,
      ];
  return new UserError(
    `DATA_DIR: ${path} ${why} could read secrets and run programs. Set DATA_DIR to a folder of your own, which is created if it is missing; or, if you trust its contents: ${remedy}`,
  );
}

/** Refuses another user's file in `DATA_DIR`. @throws UserError naming it, its owner and mode, and how to fix it */
export function requireOwner(path: string, stats: Owned, me = process.getuid?.()): void {
  if (me !== undefined && !isTrusted(stats.uid, me)) throw untrusted(path, stats, me);
}

/**
 * Checks before servers start in `DATA_DIR` that the folder and all that is read in it belong to us or to root, and
 * that nobody else may write to them. If the folder contains only the instance, others lose the right to write.
 * @param path exists
 * @param serverUser the user of a server's own folders, if it is not us
 * @param close changes the mode of the folder
 * @throws UserError naming the foreign file, its owner and mode, and how to fix it
 */
export async function requireOwnFolder(
  path: string,
  serverUser: number | undefined,
  me = process.getuid?.(),
  close: typeof chmod = chmod,
): Promise<void> {
  if (me === undefined) return;
  // A link may belong to another user, whatever its target.
  requireOwner(path, await lstat(path), me);
  const folder = await stat(path);
  requireOwner(path, folder, me);
  if ((folder.mode & OTHERS_WRITE) !== 0) {
    if (folder.uid !== me || !(await readdir(path)).every(isInstanceFile)) throw untrusted(path, folder, me);
    await close(path, folder.mode & 0o7777 & ~OTHERS_WRITE);
  }
  // Checked only after closing: until then others can add files.
  const names = await readdir(path);
  for (const name of names.filter(isInstanceFile)) {
    const file = join(path, name);
    const inside = OF_SERVERS.includes(name) ? await readdir(file).catch(() => []) : [];
    for (const each of [file, ...inside.map((entry) => join(file, entry))]) {
      // A file that has since disappeared was temporary.
      const stats = [await lstat(each).catch(() => null), await stat(each).catch(() => null)];
      for (const owned of stats.filter((one) => one !== null))
        if (!(SERVER_USER_DIRS.includes(name) && owned.uid === serverUser)) requireOwner(each, owned, me);
      const { mode = 0, uid = me } = stats[1] ?? {};
      if (each === file && (mode & OTHERS_WRITE) !== 0) throw untrusted(each, { uid, mode }, me);
    }
  }
}

/**
 * Closes the folder to all but its owner. A folder that also contains other files keeps its mode: it may
 * be shared, and confidential files in it have modes of their own.
 * @param serverUser owns folders inside: its group may enter, but not list the folder
 */
export async function restrictFolder(path: string, serverUser?: User): Promise<void> {
  if (!(await readdir(path)).every(isInstanceFile)) return;
  if (serverUser === undefined) return await chmod(path, 0o700);
  await chown(path, process.getuid?.() ?? 0, serverUser.gid);
  await chmod(path, 0o710);
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
