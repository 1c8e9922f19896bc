/**
 * A process that does a kind of work as often as its parent asks: the parent's side is here, the other in `serve.ts`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import * as v from 'valibot';
import { endChild } from '../children.ts';

/** A process that works on request. */
export interface Runner {
  readonly pid: number;
  /** @returns a measurement of each time, if it measures. @throws Error if the process ends before it answers */
  run(times: number): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/** Its messages: first that it is ready, then its measurements. */
export const answerSchema = v.union([v.literal('ready'), v.array(v.number())]);

/** Starts a program of this folder and waits until it is ready. */
export async function startRunner(
  program: 'floor' | 'send',
  env: Readonly<Record<string, string>>,
  logFile: string,
): Promise<Runner> {
  const log = openSync(logFile, 'a');
  const child = fork(new URL(`./${program}.ts`, import.meta.url), {
    execArgv: ['--import', 'tsx'],
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', log, log, 'ipc'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} could not be started.`);
  const ended = once(child, 'exit');
  const answer = () =>
    Promise.race([
      once(child, 'message'),
      ended.then(() => Promise.reject(new Error(`${program} ended; see ${logFile}.`))),
    ]);
  v.parse(answerSchema, (await answer())[0]);
  return {
    pid,
    async run(times) {
      child.send(times);
      const answered = v.parse(answerSchema, (await answer())[0]);
      return typeof answered === 'string' ? [] : answered;
    },
    stop: () => endChild(child, () => child.disconnect()),
  };
}
