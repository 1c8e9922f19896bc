/**
 * Runs other programs. None of them gets our variables, or runs in the folder that we were started in. Each runs to
 * its end, or is ended if the start that needs it is aborted.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/**
 * The folder that all programs run in; only root can write to it. In the current folder others may have planted
 * files: Python imports from it, and relative entries of PATH refer to it.
 */
export const PROGRAMS_FOLDER = '/';

/** The variables passed on to child processes: never `SECRET_KEY`, `SMTP_URL` or those of other programs. */
const ALLOWED_ENV =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TZDIR|TMPDIR|TMP|TEMP|XDG_\w+|SYSTEMROOT|USERPROFILE|(LOCAL)?APPDATA|LD_\w+|DYLD_\w+|FAKETIME\w*|GO\w+|SSL_CERT_\w+|(HTTPS?|ALL|NO)_PROXY|PIP_\w+|PYTHON\w+|REQUESTS_CA_BUNDLE)$/i;

/** The paths of programs and folders, language and time zone; settings of Go, the linker, pip and proxies. */
export function childEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => ALLOWED_ENV.test(name)));
}

interface ProgramOptions {
  /** Default: {@link childEnvironment}. */
  readonly env?: NodeJS.ProcessEnv;
  /** The user that it runs as. */
  readonly uid?: number;
  readonly gid?: number;
  /** In milliseconds; a program that takes longer is ended. Default: no limit. */
  readonly timeoutMs?: number;
  /** Aborts it: the promise rejects when the program and everything it has started are gone. */
  readonly signal?: AbortSignal;
}

/** A program that did not end with code 0. */
export class ProgramError extends Error {
  readonly stderr: string;
  constructor(message: string, stderr: string) {
    super(message);
    this.stderr = stderr;
  }
}

/** From SIGTERM to SIGKILL, in milliseconds. */
const KILL_AFTER_MS = 2_000;

/** Signals a child and everything it has started. */
function signalAll(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, name);
  } catch {
    // All of them have already ended.
  }
}

/**
 * Runs a program to its end.
 * @returns its standard output
 * @throws ProgramError if it fails or takes too long; Error if it cannot be started; the signal's reason if that was
 * aborted
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  { env = childEnvironment(), timeoutMs, signal, ...user }: ProgramOptions = {},
): Promise<string> {
  signal?.throwIfAborted();
  // In a process group of its own, so that its children can be signaled too.
  const child = spawn(command, args, {
    ...user,
    env,
    cwd: PROGRAMS_FOLDER,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let killer: NodeJS.Timeout | undefined;
  const end = () => {
    signalAll(child, 'SIGTERM');
    killer ??= setTimeout(() => signalAll(child, 'SIGKILL'), KILL_AFTER_MS);
  };
  const tooLong = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  tooLong?.addEventListener('abort', end, { once: true });
  // A second Ctrl-C ends this process at once, without waiting.
  const abandon = () => signalAll(child, 'SIGKILL');
  process.once('exit', abandon);
  signal?.addEventListener('abort', end, { once: true });
  try {
    // `close`, not `exit`: only then is the output complete, with no process still writing to it.
    const [[code, killedBy], stdout, stderr] = await Promise.all([
      once(child, 'close'),
      text(child.stdout),
      text(child.stderr),
    ]);
    signal?.throwIfAborted();
    if (tooLong?.aborted)
      throw new ProgramError(`${command} took longer than ${(timeoutMs ?? 0) / 1_000} s`, stderr);
    if (code !== 0) throw new ProgramError(`${command} ended with ${killedBy ?? `code ${code}`}`, stderr);
    return stdout;
  } finally {
    tooLong?.removeEventListener('abort', end);
    clearTimeout(killer);
    process.off('exit', abandon);
    signal?.removeEventListener('abort', end);
  }
}
