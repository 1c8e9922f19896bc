/**
 * Programs that do one thing for us (pip, tar): each runs to its end, or ends with the start it serves.
 */
import { type ChildProcess, spawn } from 'node:child_process';

/** How one of them is run. */
interface ChildOptions {
  readonly env: NodeJS.ProcessEnv;
  /** In milliseconds; what takes longer is ended. */
  readonly timeoutMs: number;
  /** Ends it: it is gone, with all it has started, when the promise rejects. */
  readonly signal: AbortSignal;
}

/** One that could not be started, or ended otherwise than with code 0. */
export class ChildError extends Error {
  /** What it wrote to its standard error. */
  readonly stderr: string;
  constructor(message: string, stderr: string) {
    super(message);
    this.stderr = stderr;
  }
}

/** Between the request to end and the end, in milliseconds. */
const KILL_AFTER_MS = 2_000;
/** A group of its own lets us reach what it starts in turn; Windows has no such groups. */
const HAS_GROUPS = process.platform !== 'win32';

/** Signals a child and whatever it has started. */
function signalAll(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (HAS_GROUPS) process.kill(-child.pid, name);
    else child.kill(name);
  } catch {
    // All of them have ended.
  }
}

/**
 * Runs a program to its end.
 * @returns its standard output
 * @throws ChildError when it fails or takes too long; the signal's reason when that was aborted
 */
export async function runChild(
  command: string,
  args: readonly string[],
  { env, timeoutMs, signal }: ChildOptions,
): Promise<string> {
  signal.throwIfAborted();
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: HAS_GROUPS });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });

  let tooLong = false;
  let killer: NodeJS.Timeout | undefined;
  const end = () => {
    signalAll(child, 'SIGTERM');
    killer ??= setTimeout(() => signalAll(child, 'SIGKILL'), KILL_AFTER_MS);
  };
  const timer = setTimeout(() => {
    tooLong = true;
    end();
  }, timeoutMs);
  // A second Ctrl-C ends us at once, without waiting for anything.
  const abandon = () => signalAll(child, 'SIGKILL');
  process.once('exit', abandon);
  signal.addEventListener('abort', end, { once: true });
  try {
    // `close`, not `exit`: its output is complete then, and nothing that it started still writes to it.
    const ending = await new Promise<string>((resolve, reject) => {
      child.once('error', (error) => reject(new ChildError(error.message, stderr)));
      child.once('close', (code, killedBy) => resolve(killedBy ?? `code ${code}`));
    });
    signal.throwIfAborted();
    if (tooLong) throw new ChildError(`${command} took longer than ${timeoutMs / 1_000} s`, stderr);
    if (ending !== 'code 0') throw new ChildError(`${command} ended with ${ending}`, stderr);
    return stdout;
  } finally {
    clearTimeout(timer);
    clearTimeout(killer);
    process.off('exit', abandon);
    signal.removeEventListener('abort', end);
  }
}
