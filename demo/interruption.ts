import { INTERRUPTED, onInterruption } from '../src/lib/shutdown.ts';
import { UserError } from '../src/lib/user-error.ts';

/** Aborted by Ctrl-C. A second one ends the process, whatever is left behind. */
export function interruption(): { readonly signal: AbortSignal; done(): void } {
  const controller = new AbortController();
  const done = onInterruption((times) => {
    if (times > 1) process.exit(INTERRUPTED);
    controller.abort(new UserError('Stopped.', INTERRUPTED));
  });
  return { signal: controller.signal, done };
}
