/** TCP ports on this machine: free ones, and those that a process listens on. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { tryPort } from '../lib/listen.ts';
import { UserError } from '../lib/user-error.ts';
import { runProgram } from './run-program.ts';

/** The preferred port if it is free, else any free one. @throws UserError if the system finds none either */
export async function freePort(preferred = 0, host = '127.0.0.1'): Promise<number> {
  if (preferred !== 0) {
    const port = await tryPort(preferred, host).catch(() => undefined);
    if (port !== undefined) return port;
  }
  return await tryPort(0, host).catch((error: Error) => {
    throw new UserError(`No TCP port can be opened on ${host}: ${error.message}.`);
  });
}

/** The state of a listening socket in `/proc/…/net/tcp`. */
const LISTEN = '0A';

/** @returns each port once; none if neither /proc nor `lsof` is there */
export async function listeningPorts(pid: number): Promise<number[]> {
  const folder = `/proc/${pid}`;
  const handles = await readdir(`${folder}/fd`).catch(() => null);
  if (handles === null) return await byLsof(pid);
  const targets = await Promise.all(handles.map((fd) => readlink(`${folder}/fd/${fd}`).catch(() => '')));
  const ownSockets = new Set(targets.map((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1]));
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`${folder}/net/${name}`, 'utf8').catch(() => '')),
  );
  // "0: 0100007F:1C41 00000000:0000 0A … inode …"
  const rows = tables.flatMap((table) => table.split('\n').map((line) => line.trim().split(/\s+/)));
  const listening = rows.filter((row) => row[3] === LISTEN && ownSockets.has(row[9]));
  return [...new Set(listening.map((row) => Number.parseInt(row[1]?.split(':')[1] ?? '', 16)))];
}

async function byLsof(pid: number): Promise<number[]> {
  const args = ['-nP', '-a', '-p', String(pid), '-iTCP', '-sTCP:LISTEN', '-Fn'];
  const stdout = await runProgram('lsof', args).catch(() => '');
  // "n127.0.0.1:7233"
  return [...new Set([...stdout.matchAll(/^n.*:(\d+)$/gm)].map(([, port]) => Number(port)))];
}
