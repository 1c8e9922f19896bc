/**
 * A server that runs as our child: in its own process group, so that Ctrl-C in a terminal reaches only us; with its
 * id in a file for the next start, in case we are killed; restarted with growing waits if it dies.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBackoff } from '../lib/backoff.ts';
import { onceAMinute } from '../lib/once-a-minute.ts';
import { reasonOf, UserError } from '../lib/user-error.ts';
import { waitOrStop } from '../lib/wait-or-stop.ts';
import type { User } from './own-files.ts';
import { commandLine, endProcess, isAlive, type StopSignals } from './processes.ts';
import { childEnvironment, PROGRAMS_FOLDER } from './run-program.ts';

export interface ServiceOptions {
  /** For messages: "Postgres". */
  readonly name: string;
  /** An absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to {@link childEnvironment}; read at each start. */
  readonly env?: () => NodeJS.ProcessEnv;
  /** The user that it runs as; default: ours. */
  readonly user?: User | undefined;
  /** Its output is appended here (a pipe would break if we are killed); rotated at a start if long. Default: none. */
  readonly logFile?: string | undefined;
  /** Holds its process id while it runs. */
  readonly pidFile?: string | undefined;
  /** Whether it is ready; polled during a start while the process lives. @param pid its process */
  readonly ready: (pid: number) => Promise<boolean>;
  /** How long it may take to be ready, in milliseconds. */
  readonly readyTimeoutMs: number;
  /** How long it may take to end when asked to, in milliseconds. */
  readonly stopTimeoutMs: number;
  /** Default: SIGTERM and SIGKILL. */
  readonly stopSignals?: StopSignals;
  /** Whether a service that dies is started again. Default true. */
  readonly restarts?: boolean | undefined;
  /** Called on every unexpected exit and every attempt to restart. */
  readonly onEvent?: ((text: string) => void) | undefined;
  /** Aborts the first start: the process is gone when `startService` rejects. */
  readonly signal?: AbortSignal | undefined;
}

export type Service = Awaited<ReturnType<typeof startService>>;

/** The process ended before it was ready. */
class ExitedError extends UserError {}

/** How often to try. Too low: a race for a port fails the start. Too high: a server that cannot start fails later. */
const STARTS = 3;

/**
 * Starts a server on free ports that `start` chooses: another program may take one before the server binds it. If
 * the server exits, it is started again.
 * @throws Error that the last start throws
 */
export async function startOnFreePorts<T>(start: () => Promise<T>): Promise<T> {
  for (let starts = 1; ; starts += 1) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof ExitedError) || starts === STARTS) throw error;
    }
  }
}

const READY_POLL_MS = 50;
const FIRST_RESTART_MS = 250;
const MAX_RESTART_DELAY_MS = 10_000;

/**
 * Stops a server that an earlier Waybill process left running. After a restart of the machine another process may
 * have its id; that one is left alone.
 * @param marker text that only its command line has, such as its data folder
 * @param patienceMs how long it may take to end when asked to
 * @returns true if there was one
 * @throws UserError if it does not end: no second server may use its files
 */
export async function stopOrphan(pidFile: string, marker: string, patienceMs: number, signals?: StopSignals) {
  const text = await readFile(pidFile, 'utf8').catch(() => null);
  if (text === null) return false;
  const pid = Number.parseInt(text, 10);
  // Not a number, or 0: a power cut or a full disk interrupted the start. Postgres would refuse to start.
  if (Number.isNaN(pid) || pid === 0) await rm(pidFile);
  if (!(pid > 1) || !(await isAlive(pid))) return false;
  const isOwn = (await commandLine(pid)).includes(marker);
  if (!isOwn) await rm(pidFile, { force: true });
  else if (!(await endProcess(pid, patienceMs, signals)))
    throw new UserError(
      `Process ${pid}, which an earlier run left behind, does not end: ${marker} is still in use.`,
    );
  return isOwn;
}

/** The size at which a log is rotated, in bytes. */
const MAX_LOG_BYTES = 10 * 1024 * 1024;

/** Renames a long log to `<path>.1`, before its server starts: a running one keeps writing to the renamed file. */
async function rotateLog(path: string): Promise<void> {
  const stats = await stat(path).catch(() => null);
  if (stats !== null && stats.size > MAX_LOG_BYTES) await rename(path, `${path}.1`);
}

/** Lines in which Postgres says why it ends; others follow them. */
const CAUSE = /(?:ERROR|FATAL|PANIC|HINT): /;

/**
 * The last lines of a log file, for the message of a failed start: those with a cause, if there are any.
 * @param from where the lines of this start begin, in bytes
 */
async function tail(path: string | undefined, from: number): Promise<string> {
  if (path === undefined) return '';
  const text = (await readFile(path).catch(() => Buffer.alloc(0))).subarray(from).toString();
  const output = text.trim().split('\n');
  const causes = output.filter((line) => CAUSE.test(line));
  const lines = (causes.length > 0 ? causes : output).slice(-5).join('\n');
  return lines === '' ? '' : ` Its last output, in ${path}:\n${lines}`;
}

/**
 * Starts the process of a server.
 * @returns `ended` resolves when it is gone; `logged`: where its lines in the log begin, in bytes
 * @throws UserError if it cannot be run
 */
async function startProcess({ name, command, args, env, user, logFile }: ServiceOptions) {
  if (logFile !== undefined) await rotateLog(logFile);
  const output = logFile === undefined ? ('ignore' as const) : openSync(logFile, 'a', 0o600);
  const logged = typeof output === 'number' ? fstatSync(output).size : 0;
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', output, output],
    ...user,
    env: { ...childEnvironment(), ...env?.() },
    cwd: PROGRAMS_FOLDER,
  });
  if (typeof output === 'number') closeSync(output);
  // It must not keep this process running; `stop` ends it.
  child.unref();
  const ended = once(child, 'exit').catch((error: unknown) => error);
  const { pid } = child;
  if (pid === undefined) throw new UserError(`${name} cannot be started: ${String(await ended)}`);
  return { pid, ended, logged };
}

/**
 * Starts a server and waits until it serves.
 * @throws ExitedError with its last output if it ends instead
 * @throws UserError with its last output if it does not serve in time or cannot be run
 */
export async function startService(options: ServiceOptions) {
  const onEvent = options.onEvent ?? (() => {});
  const end = (id: number) => endProcess(id, options.stopTimeoutMs, options.stopSignals);
  const stopping = new AbortController();
  let pid: number | null = null;

  /** One run of the process. Resolves when it is ready; `ended` resolves when it is gone. */
  async function launch(signal?: AbortSignal): Promise<{ ended: Promise<unknown> }> {
    const { pid: started, ended, logged } = await startProcess(options);
    pid = started;
    if (options.pidFile !== undefined)
      await writeFile(options.pidFile, `${started}\n`).catch(async (error: unknown) => {
        // The disk is full, so no later start would find this process.
        await end(started);
        throw error;
      });
    const readyBy = Date.now() + options.readyTimeoutMs;
    // Another program may answer at its address: only a process that lives can be ready.
    while (!((await options.ready(started).catch(() => false)) && (await isAlive(started)))) {
      if (stopping.signal.aborted) break;
      if (signal?.aborted === true) {
        await end(started);
        throw new UserError(`${options.name} was stopped while starting.`);
      }
      if (!(await isAlive(started)))
        throw new ExitedError(`${options.name} exited immediately.${await tail(options.logFile, logged)}`);
      if (Date.now() > readyBy) {
        await end(started);
        throw new UserError(
          `${options.name} did not answer within ${options.readyTimeoutMs / 1_000} s.${await tail(options.logFile, logged)}`,
        );
      }
      await sleep(READY_POLL_MS);
    }
    return { ended };
  }

  async function watch(first: { ended: Promise<unknown> }): Promise<void> {
    let life: { ended: Promise<unknown> } | null = first;
    const backoff = createBackoff(FIRST_RESTART_MS, MAX_RESTART_DELAY_MS);
    const leftOut = onceAMinute();
    while (!stopping.signal.aborted) {
      if (life !== null) {
        const since = Date.now();
        await life.ended;
        if (stopping.signal.aborted || options.restarts === false) return;
        // After a long run, the start was not the problem.
        if (Date.now() - since > MAX_RESTART_DELAY_MS) backoff.reset();
        life = null;
        onEvent(`${options.name} stopped unexpectedly; restarting it.`);
      }
      pid = null;
      // Not unref'ed: while a server is down, this process stays alive to restart it.
      await waitOrStop(backoff.next(), stopping.signal);
      if (stopping.signal.aborted) return;
      try {
        life = await launch();
        if (!stopping.signal.aborted) onEvent(`${options.name} is running again.`);
      } catch (error) {
        const message = reasonOf(error);
        if (leftOut(message) !== null) onEvent(message);
      }
    }
  }

  const first = await launch(options.signal);
  const watching = watch(first);
  return {
    /** Its present process id, or null while it is being restarted. */
    pid: () => pid,
    /** Ends it for good. Resolves when it is gone. @throws Error if it does not end even when forced */
    async stop() {
      stopping.abort();
      // The child is unref'ed, but waiting for its end must keep this process running.
      const alive = setInterval(() => {}, 1_000);
      let isGone = pid === null || (await end(pid));
      // A start under way notices `stopping` only after it has created a process.
      if (isGone) {
        await watching;
        isGone = pid === null || (await end(pid));
      }
      clearInterval(alive);
      if (!isGone) throw new Error(`${options.name} (process ${pid}) does not end.`);
      if (options.pidFile !== undefined) await rm(options.pidFile, { force: true });
    },
  };
}
