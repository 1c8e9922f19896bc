/** Notices when the database's clock is set: back, waits would last longer by as much; ahead, windows end early. */
import { uptime } from 'node:os';
import type { Logger } from 'pino';
import { databaseTime } from '../db/clock.ts';
import { type ClockStep, forgetFutureTimes, noteClockStep } from '../db/future-times.ts';
import type { Pool } from '../db/pool.ts';
import { waitOrStop } from '../lib/wait-or-stop.ts';

/** The time between two readings, in milliseconds. */
const LOOK_MS = 1_000;
/** A smaller difference is no step: both clocks are constantly corrected, and a response takes time. */
const STEP_MS = 5_000;
/**
 * Readings after a step that repair times: within half a minute an attempt under way, 15 s by default, has been
 * recorded.
 */
const LOOKS_AFTER_STEP = 30;

interface ClockWatchOptions {
  readonly sql: Pool;
  readonly log: Logger;
  readonly onStep: (step: ClockStep) => void;
  /** The time between two readings, in milliseconds; default 1 s. */
  readonly intervalMs?: number | undefined;
  /** The database's clock. Default: queries it. */
  readonly read?: () => Promise<Date>;
  /** How long the machine has run, in milliseconds. */
  readonly uptimeMs?: () => number;
}

/**
 * Repairs the effects of steps back, and reports all steps. A step back that nobody watched is repaired at the start.
 * @returns at once; `stop` waits for a reading under way
 */
export function watchDatabaseClock({
  sql,
  log,
  onStep,
  intervalMs = LOOK_MS,
  read = () => databaseTime(sql),
  uptimeMs = () => uptime() * 1_000,
}: ClockWatchOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  /** The database's clock minus the machine's uptime, which does not jump and goes on while the machine sleeps. */
  let ahead: number | null = null;
  /** How many more readings repair times: work under way at a step still writes times of the clock before it. */
  let readings = 1;

  async function look(): Promise<void> {
    const before = uptimeMs();
    const at = await read();
    const took = uptimeMs() - before;
    // Nobody knows when in all that time the clock was read: the next reading tells.
    if (took > STEP_MS) return;
    const now = at.getTime() - before - took / 2;
    const ms = Math.round(now - (ahead ?? now));
    if (Math.abs(ms) > STEP_MS + took) {
      readings = LOOKS_AFTER_STEP;
      onStep({ at, ms });
      log.warn({ ms }, `the database's clock was set ${ms < 0 ? 'back' : 'ahead'}`);
      await noteClockStep(sql, { at, ms });
    }
    ahead = now;
    if (readings === 0) return;
    const rows = await forgetFutureTimes(sql);
    if (rows > 0) log.warn({ rows }, 'times that lay too far ahead are past now: the clock was set back');
    readings -= 1;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Others report that the database is away.
      await look().catch((error: unknown) => log.debug({ err: error }, 'the clock could not be read'));
      await waitOrStop(intervalMs, stopping.signal);
    }
  }
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
