/** `npm start` as a user runs it: in a terminal, with only a folder and a free port configured. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A process group, as a terminal makes one. */
export interface Started {
  readonly pid: number;
  readonly output: () => string;
  /** Resolves to its exit code. */
  readonly ended: Promise<number | null>;
}

/** Options of one start. */
export interface StartOptions {
  readonly dataDir: string;
  /** The checkout, or where the package is installed (default: this checkout). */
  readonly cwd?: string;
  /** What is typed (default: `npm start`). */
  readonly command?: readonly [string, ...string[]];
  /** The user and group that it runs as (default: this process's). */
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts it, without the environment of the tests. */
export function npmStart(options: StartOptions): Started {
  const { dataDir, cwd = root, command = ['npm', 'start'], user, env = {} } = options;
  const { PATH = '', HOME = '', XDG_CACHE_HOME } = process.env;
  const [program, ...args] = command;
  const child: ChildProcess = spawn(program, args, {
    cwd,
    ...user,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH,
      HOME,
      ...(XDG_CACHE_HOME === undefined ? {} : { XDG_CACHE_HOME }),
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'warn',
      ...env,
    },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return {
    pid: child.pid ?? 0,
    output: () => text,
    ended: once(child, 'close').then(() => child.exitCode),
  };
}

/** Like a terminal, which signals the whole group. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

/** The banner's values, by the name at the beginning of each line. */
export async function banner(started: Started): Promise<Record<string, string>> {
  let over = false;
  void started.ended.then(() => {
    over = true;
  });
  for (const end = Date.now() + 240_000; !/Waybill is ready\.\n\n(.+\n)+\n/.test(started.output()); ) {
    if (over || Date.now() > end) throw new Error(`No banner:\n${started.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const lines = started.output().split('Waybill is ready.')[1]?.trim().split('\n') ?? [];
  return Object.fromEntries(lines.map((line) => line.trim().split(/\s{2,}/, 2)));
}

/**
 * The running processes whose command line contains the instance's folder: its Postgres and its Temporal.
 * @param having a text that it must also contain
 */
export async function processesOf(dataDir: string, having = ''): Promise<number[]> {
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,args=']);
    return stdout
      .split('\n')
      .flatMap((line) =>
        line.includes(dataDir) && line.includes(having) ? [Number.parseInt(line, 10)] : [],
      );
  }
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return text.includes(dataDir) && text.includes(having) ? [pid] : [];
    }),
  );
  return found.flat();
}
