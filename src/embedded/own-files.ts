/** Checks who owns the files in `DATA_DIR`: they hold keys and passwords, and name the programs that servers run. */
import type { Stats } from 'node:fs';
import { chmod, lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../lib/user-error.ts';
import { isInstanceFile } from './private-folder.ts';

/** Write permission of the group and of everybody. */
const OTHERS_WRITE = 0o022;
/** Folders of the instance whose files a server reads: settings in them can name programs to run. */
const OF_SERVERS: readonly string[] = ['postgres', 'temporal'];
/** The folders of a server's user, if it is not this process's; from the second nothing is ever read. */
const SERVER_USER_DIRS: readonly string[] = ['postgres', 'postgres-new'];
/** Only written to; it was once created with the default mode. */
const NEVER_READ: readonly string[] = ['mail'];

/** The owner and mode of a file or folder. */
type Owned = Pick<Stats, 'uid' | 'mode'>;

/** Whether we trust the files of this user: our own and root's. */
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

/** Refuses another user's file in `DATA_DIR`. @throws UserError naming it, its owner and mode, and the ways out */
export function requireOwner(path: string, stats: Owned, me = process.getuid?.()): void {
  if (me !== undefined && !isTrusted(stats.uid, me)) throw untrusted(path, stats, me);
}

/**
 * Before servers start in `DATA_DIR`: the folder and all that is read in it belong to us or to root, and nobody
 * else may write to them. A folder that contains only the instance is closed to writes by others.
 * @param path exists
 * @param guest the user of a server's own folders, if it is not us
 * @param close changes the mode of the folder
 * @throws UserError naming the foreign file, its owner and mode, and the ways out
 */
export async function requireOwnFolder(
  path: string,
  guest: number | undefined,
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
      // A file that is gone meanwhile was temporary.
      const stats = [await lstat(each).catch(() => null), await stat(each).catch(() => null)];
      for (const owned of stats.filter((one) => one !== null))
        if (!(SERVER_USER_DIRS.includes(name) && owned.uid === guest)) requireOwner(each, owned, me);
      const { mode = 0, uid = me } = stats[1] ?? {};
      if (each === file && (mode & OTHERS_WRITE) !== 0 && !NEVER_READ.includes(name))
        throw untrusted(each, { uid, mode }, me);
    }
  }
}
