/** Ctrl-C in a command that lasts: it ends in order. */
import { setTimeout as sleep } from 'node:timers/promises';
import { INTERRUPTED, onInterruption } from '../lib/shutdown.ts';
import { UserError } from '../lib/user-error.ts';

/**
 * Runs `work` with a signal that Ctrl-C, or the end of the terminal, aborts; a second Ctrl-C ends the process at
 * once.
 * @param sentence printed then
 */
export async function untilInterrupted<T>(
  sentence: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const done = onInterruption((times) => {
    if (times > 1) process.exit(INTERRUPTED);
    controller.abort(new UserError(sentence, INTERRUPTED));
  });
  try {
    return await work(controller.signal);
  } finally {
    done();
  }
}

/** @throws the signal's reason as soon as it is aborted */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}
