/** The lock of `DATA_DIR`: one process at a time, even if two cannot see each other, as in two containers. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { link, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { UserError } from '../lib/user-error.ts';
import type { DataDir } from './data-dir.ts';
import { commandLine, isAlive } from './processes.ts';

/**
 * Locks the folder for this process.
 * @throws UserError while another running Waybill holds the lock
 * @returns a function that releases it
 */
export async function lockDataDir(dataDir: DataDir): Promise<() => Promise<void>> {
  const file = dataDir.join('lock');
  const refuse = (lock: string) => refuseHolder(dataDir, lock);
  await refuse(file);
  const close = await listenInside(dataDir);
  const mine = dataDir.join(ownName());
  try {
    await writeFile(mine, String(process.pid), { mode: 0o600 });
    await putInPlace(mine, file, refuse);
  } catch (error) {
    await close();
    throw error;
  } finally {
    await rm(mine, { force: true });
  }
  return async () => {
    await rm(file, { force: true });
    await close();
  };
}

/** A temporary name. It is random, since processes in two containers may have the same id. */
const ownName = () => `.lock.${randomBytes(8).toString('hex')}`;

/**
 * Links a complete file or socket into its place, which holds at most one, so that no reader sees an incomplete one.
 * First moves away what a dead process has left, and checks it again under the temporary name: since the first
 * check, another process may have replaced it.
 * @param refuse throws if the process of the file or socket at this path is alive
 */
export async function putInPlace(mine: string, place: string, refuse: (path: string) => Promise<void>) {
  while (!(await succeededOr('EEXIST', link(mine, place)))) {
    await refuse(place);
    const leftover = join(dirname(mine), ownName());
    if (!(await succeededOr('ENOENT', rename(place, leftover)))) continue;
    try {
      await refuse(leftover);
    } catch (error) {
      await rename(leftover, place);
      throw error;
    }
    await rm(leftover);
  }
}

/** The socket that a process listens on while it uses the folder. */
const SOCKET = 'lock.socket';

/**
 * Listens on a socket in the folder: in another container a process has another id or none, but a socket answers
 * every process of the machine. Only on Linux, where containers run, and if the file system supports sockets.
 * @throws UserError while another process listens there
 * @returns a function that ends it
 */
async function listenInside(dataDir: DataDir): Promise<() => Promise<void>> {
  if (process.platform !== 'linux') return async () => {};
  const folder = await open(dataDir.path);
  // A socket's path may have at most 107 characters, a folder's any number.
  const inside = (name: string) => `/proc/self/fd/${folder.fd}/${name}`;
  const mine = inside(ownName());
  const server = createServer((socket) => socket.destroy()).unref();
  const close = async () => {
    await new Promise((resolve) => server.close(resolve));
    await folder.close();
  };
  // Without the socket, only an instance in another container would miss the lock.
  const listens = await once(server.listen(mine), 'listening').then(
    () => true,
    () => false,
  );
  if (!listens) return close;
  try {
    await putInPlace(mine, inside(SOCKET), async (socket) => {
      if (!(await answers(socket))) return;
      throw new UserError(
        `${dataDir.path} is in use by a Waybill that this one cannot see, such as one in another container: stop it, or choose another folder with DATA_DIR.`,
      );
    });
  } catch (error) {
    await close();
    throw error;
  } finally {
    await rm(mine, { force: true });
  }
  return async () => {
    await rm(inside(SOCKET), { force: true });
    await close();
  };
}

/** Whether a process listens on a socket; false if the process was killed. */
async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  const answered = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return answered;
}

/** True if it succeeded, false if it failed with the code. @throws any other error */
async function succeededOr(code: 'EEXIST' | 'ENOENT', operation: Promise<void>): Promise<boolean> {
  try {
    await operation;
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === code) return false;
    throw error;
  }
}

/** @throws UserError if the lock is that of another Waybill that runs */
async function refuseHolder(dataDir: DataDir, file: string): Promise<void> {
  const pid = Number(await readFile(file, 'utf8').catch(() => ''));
  // By now the id may belong to any process, such as another Node program with a main.js.
  const isWaybill = /\b(?:(?:bin|src)\/main\.(?:ts|js)|waybill(?:\.js)? start|keys replace)\b/.test(
    await commandLine(pid),
  );
  if (pid > 0 && pid !== process.pid && isWaybill && (await isAlive(pid))) {
    throw new UserError(
      `${dataDir.path} is in use by process ${pid}: stop that process, or choose another folder with DATA_DIR.`,
    );
  }
}
