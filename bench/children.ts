/** Child processes: each started with its own log file, and ended by its id. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a program may take to be ready, in milliseconds: other work on the machine must not break a long run. */
const READY_MS = 180_000;

/** A program of this repository that runs beside this process. */
export interface Child {
  readonly pid: number;
  /** @throws Error with the end of its log if it ends first, or is not ready within three minutes */
  waitUntil(ready: () => Promise<boolean>): Promise<void>;
  /** SIGTERM, and SIGKILL if it has not ended after 20 s. */
  stop(): Promise<void>;
}

/**
 * Starts `node --import tsx <program>`.
 * @param env variables in addition to those that every process needs; those of the bench itself are not passed on
 * @param within a command that runs it, such as `taskset`
 */
export function startChild(
  program: string,
  env: Readonly<Record<string, string>>,
  logFile: string,
  within: readonly string[] = [],
): Child {
  const log = openSync(logFile, 'a');
  const [command = process.execPath, ...args] = [...within, process.execPath, '--import', 'tsx', program];
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', log, log],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} could not be started.`);
  return {
    pid,
    async waitUntil(ready) {
      for (const end = Date.now() + READY_MS; Date.now() < end; ) {
        if (hasEnded(child)) break;
        if (await ready().catch(() => false)) return;
        await sleep(100);
      }
      const text = await readFile(logFile, 'utf8');
      throw new Error(`${program} did not become ready:\n${text.split('\n').slice(-20).join('\n')}`);
    },
    async stop() {
      await endChild(child, () => child.kill('SIGTERM'));
    },
  };
}

/** Asks a process to end and waits for it; kills it after 20 s, since it would outlive this process. */
export async function endChild(child: ChildProcess, ask: () => void): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  ask();
  const patience = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await ended;
  clearTimeout(patience);
}

/** Whether a process has ended. */
function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
