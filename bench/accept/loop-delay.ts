/** Loaded into a measured API before its program: tells its parent how long its event loop was held. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often it looks, in milliseconds: the delay is what a look is late. */
const RESOLUTION_MS = 5;

const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();
process.on('message', () => {
  // The histogram counts the whole interval between two looks.
  process.send?.({ heldMs: Math.max(0, delays.max / 1e6 - RESOLUTION_MS) });
  delays.reset();
});
// The question alone does not keep the program alive.
process.channel?.unref();
