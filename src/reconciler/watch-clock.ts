/**
 * Notices when the database's clock is set, and how far it is from this machine's. A clock set back would make waits
 * longer by as much; a clock set ahead ends windows early.
 */
import { uptime } from 'node:os';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { databaseTime } from '../db/clock.ts';
import type { Pool } from '../db/connection/pool.ts';
import { type ClockStep, forgetFutureTimes, recordClockStep } from '../db/maintenance/future-times.ts';
import { waitOrStop } from '../lib/wait-or-stop.ts';

/** The time between two readings, in milliseconds. */
const LOOK_MS = 1_000;
/**
 * A difference smaller than this, in milliseconds, is no step: both clocks are corrected all the time, and a response
 * takes time.
 */
const STEP_MS = 5_000;
/**
 * How many readings after a step repair times: within half a minute, an attempt under way (15 s by default) has been
 * recorded.
 */
const LOOKS_AFTER_STEP = 30;

interface ClockWatchOptions {
  readonly sql: Pool;
  readonly log: Logger;
  readonly onStep: (step: ClockStep) => void;
  /** Called at every reading: the database's clock minus this machine's, in milliseconds. */
  readonly onRead?: (differenceMs: number) => void;
  /** The time between two readings, in milliseconds; default 1 s. */
  readonly intervalMs?: number | undefined;
  /** Reads the database's clock; default: by a query. */
  readonly read?: () => Promise<Date>;
  /** How long the machine has run, in milliseconds. */
  readonly uptimeMs?: () => number;
}

/**
 * Repairs the effects of steps back, and reports all steps. The first reading repairs a step back that nobody saw.
 * @returns at once; `look` reads the clock now, and notes a step; `stop` waits for a reading under way
 */
export function watchDatabaseClock({
  sql,
  log,
  onStep,
  onRead,
  intervalMs = LOOK_MS,
  read = () => databaseTime(sql),
  uptimeMs = () => uptime() * 1_000,
}: ClockWatchOptions): { look(): Promise<void>; stop(): Promise<void> } {
  const stopping = new AbortController();
  // Of two simultaneous readings, the one that ends later might be the earlier one.
  const inTurn = pLimit(1);
  /** The database's clock minus the uptime of this machine, which does not jump and also counts while it sleeps. */
  let ahead: number | null = null;
  /**
   * How many more readings repair times: work under way at a step still writes times by the clock before the step.
   */
  let readings = 1;
  /** Steps not yet in the database, oldest first. They keep their time: another worker may have noted them. */
  const unnoted: ClockStep[] = [];

  async function recordSteps(): Promise<void> {
    for (let step = unnoted[0]; step !== undefined; step = unnoted[0]) {
      try {
        await recordClockStep(sql, step);
      } catch (error) {
        log.error({ err: error, ms: step.ms }, 'windows were not moved with the clock: trying again');
        throw error;
      }
      unnoted.shift();
    }
  }

  async function look(): Promise<void> {
    const before = uptimeMs();
    const at = await read();
    const took = uptimeMs() - before;
    // The clock was read at an unknown point of that long time: the next reading decides.
    if (took > STEP_MS) return;
    const differenceMs = Math.round(at.getTime() - (Date.now() - took / 2));
    onRead?.(differenceMs);
    const now = at.getTime() - before - took / 2;
    const ms = Math.round(now - (ahead ?? now));
    if (Math.abs(ms) > STEP_MS + took) {
      readings = LOOKS_AFTER_STEP;
      const step = { at, ms, differenceMs };
      unnoted.push(step);
      onStep(step);
      log.warn({ ms }, `the database's clock was set ${ms < 0 ? 'back' : 'ahead'}`);
    }
    ahead = now;
    await recordSteps();
  }

  async function repairTimes(): Promise<void> {
    if (readings === 0) return;
    const rows = await forgetFutureTimes(sql);
    if (rows > 0) log.warn({ rows }, 'times that lay too far ahead are past now: the clock was set back');
    readings -= 1;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Other parts report that the database is unavailable.
      await inTurn(look)
        .then(repairTimes)
        .catch((error: unknown) => log.debug({ err: error }, 'the clock could not be read'));
      await waitOrStop(intervalMs, stopping.signal);
    }
  }
  const running = run();
  return {
    look: () => inTurn(look),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
