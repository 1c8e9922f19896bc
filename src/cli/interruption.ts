/** Ctrl-C in a command that lasts: it ends in order. */
import { INTERRUPTED, onInterruption } from '../lib/shutdown.ts';
import { UserError } from '../lib/user-error.ts';

/**
 * Runs `work` with a signal that Ctrl-C, or the end of the terminal, aborts; a second Ctrl-C ends the process at
 * once.
 * @param message printed then
 */
export async function untilInterrupted<T>(
  message: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const done = onInterruption((times) => {
    if (times > 1) process.exit(INTERRUPTED);
    controller.abort(new UserError(message, INTERRUPTED));
  });
  try {
    return await work(controller.signal);
  } finally {
    done();
  }
}
