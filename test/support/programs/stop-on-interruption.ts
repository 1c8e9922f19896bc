import { createShutdown, INTERRUPTED, onInterruption, type Shutdown } from '../../../src/lib/shutdown.ts';

/**
 * For programs that only have to clean up: the first interruption stops all and ends the process, a second ends it
 * at once.
 */
export function stopOnInterruption(): Shutdown {
  const shutdown = createShutdown();
  onInterruption((times) => {
    if (times > 1) process.exit(INTERRUPTED);
    void shutdown.stop().finally(() => process.exit(INTERRUPTED));
  });
  return shutdown;
}
