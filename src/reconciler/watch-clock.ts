/** Notices that the database's clock was set: back, and what waits would wait for as long; ahead, and windows end early. */
import { uptime } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { databaseTime } from '../db/clock.ts';
import { type ClockStep, forgetFutureTimes, noteClockStep } from '../db/future-times.ts';
import type { Pool } from '../db/pool.ts';

/** Between two looks, in milliseconds. */
const LOOK_MS = 1_000;
/** A difference of less is no step, in milliseconds: both clocks are being corrected all the time, and an answer takes time. */
const STEP_MS = 5_000;

const LOOKS_AFTER_STEP = 30;

interface ClockWatchOptions {
  readonly sql: Pool;
  readonly log: Logger;
  readonly onStep: (step: ClockStep) => void;
  /** Between two looks, in milliseconds; default 1 s. */
  readonly intervalMs?: number | undefined;
  /** The database's clock. Default: asks it. */
  readonly read?: () => Promise<Date>;
}

/**
 * Makes good what a step back did, and says which steps there were. What was set back while nobody looked is made good at the start.
 * @returns after the first look; `stop` waits for one under way
 */
export function watchDatabaseClock({
  sql,
  log,
  onStep,
  intervalMs = LOOK_MS,
  read = () => databaseTime(sql),
}: ClockWatchOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  /** The database's clock less the machine's time since its start, which does not jump and goes on while it sleeps. */
  let ahead: number | null = null;
  /** What was under way at a step still writes times by the clock before it: so many looks more. */
  let owed = 1;

  async function look(): Promise<void> {
    const before = uptime() * 1_000;
    const at = await read();
    const took = uptime() * 1_000 - before;
    const now = at.getTime() - before - took / 2;
    const ms = Math.round(now - (ahead ?? now));
    if (Math.abs(ms) > STEP_MS + took) {
      owed = LOOKS_AFTER_STEP;
      onStep({ at, ms });
      log.warn({ ms }, `the database's clock was set ${ms < 0 ? 'back' : 'ahead'}`);
      await noteClockStep(sql, { at, ms });
    }
    ahead = now;
    if (owed === 0) return;
    const rows = await forgetFutureTimes(sql);
    if (rows > 0) log.warn({ rows }, 'times that lay too far ahead are past now: the clock was set back');
    owed -= 1;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // A database that is away is reported by others.
      await look().catch((error: unknown) => log.debug({ err: error }, 'the clock could not be read'));
      await sleep(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
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
