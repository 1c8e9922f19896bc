/**
 * The lock of `DATA_DIR`: one process at a time, also of processes that cannot see each other, as in two
 * containers.
 */
import { once } from 'node:events';
import { link, open, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
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
  await refuseHolder(dataDir, file);
  const hangUp = await listenInside(dataDir);
  // Linked into place with its content, so that a lock without a process id is never read.
  const mine = dataDir.join(`.lock.${process.pid}`);
  await writeFile(mine, String(process.pid), { mode: 0o600 });
  try {
    while (!(await linked(mine, file))) {
      await refuseHolder(dataDir, file);
      // Of a process that is gone.
      await rm(file, { force: true });
    }
  } catch (error) {
    await hangUp();
    throw error;
  } finally {
    await rm(mine, { force: true });
  }
  return async () => {
    await rm(file, { force: true });
    await hangUp();
  };
}

/** The socket that a process listens on while it uses the folder. */
const SOCKET = 'lock.socket';

/**
 * Listens on a socket in the folder: in another container a process has another id or none, but a socket answers
 * all of the machine. Only on Linux, where containers run; nothing where the file system has no sockets.
 * @throws UserError while another process listens there
 * @returns a function that ends it
 */
async function listenInside(dataDir: DataDir): Promise<() => Promise<void>> {
  if (process.platform !== 'linux') return async () => {};
  const folder = await open(dataDir.path);
  // The path of a socket has 107 characters at most, that of the folder any number.
  const path = `/proc/self/fd/${folder.fd}/${SOCKET}`;
  if (await answers(path)) {
    await folder.close();
    throw new UserError(
      `${dataDir.path} is in use by a Waybill that this one cannot see, such as one in another container: stop it, or choose another folder with DATA_DIR.`,
    );
  }
  await rm(dataDir.join(SOCKET), { force: true });
  const server = createServer((socket) => socket.destroy()).unref();
  // Without it only an instance in another container would not notice the lock.
  await once(server.listen(path), 'listening').catch(() => {});
  return async () => {
    await new Promise((resolve) => server.close(resolve));
    await folder.close();
  };
}

/** Whether a process listens on a socket; false where it was killed. */
async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  const answered = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return answered;
}

/** Links a file under a second name; false if that name is taken. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** @throws UserError if the lock is that of another Waybill that runs */
async function refuseHolder(dataDir: DataDir, file: string): Promise<void> {
  const pid = Number(await readFile(file, 'utf8').catch(() => ''));
  // By now the id may belong to any other process.
  const isWaybill = /\b(?:main\.(?:ts|js)|waybill(?:\.js)? start|keys replace)\b/.test(
    await commandLine(pid),
  );
  if (pid > 0 && pid !== process.pid && isWaybill && (await isAlive(pid))) {
    throw new UserError(
      `${dataDir.path} is in use by process ${pid}: stop that process, or choose another folder with DATA_DIR.`,
    );
  }
}
