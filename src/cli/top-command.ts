/** `waybill top`: the live status. */
import type { Command } from 'commander';
import { readSettings } from '../config/config.ts';
import type { Settings } from '../config/variables.ts';
import { type FlowOverview, readFlow } from '../db/overview.ts';
import type { Pool } from '../db/pool.ts';
import { type CommandContext, noOptions, runs } from '../lib/command-line.ts';
import { pause } from '../lib/settled.ts';
import { untilInterrupted } from '../lib/shutdown.ts';
import { pairs } from './layout.ts';
import { withDatabase } from './open-database.ts';
import {
  askTemporal,
  type DatabaseStatus,
  needsOf,
  problemOf,
  readStorage,
  readWork,
  type TemporalStatus,
} from './status.ts';
import { databaseRows, flowRows, temporalRows } from './status-command.ts';

/** Clears the terminal from its first line on. */
const CLEAR = '\u001b[H\u001b[J';

function frame(overview: Overview): string {
  const { at, database, flow, temporal } = overview;
  const rows = [
    ['Time', `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`] as const,
    ...(flow === null ? [] : flowRows(flow)),
    ...databaseRows(database),
    ...(temporal === null ? [['Temporal', 'waiting for a response'] as const] : temporalRows(temporal)),
  ];
  return [pairs(rows), ...needsOf(overview)].join('\n');
}

export function topCommand(command: Command, { env, print }: CommandContext): void {
  command.addHelpText(
    'after',
    '\nOn a terminal the display is redrawn; with --json, one line is printed per second.',
  );
  runs(command, noOptions, async ({ json }) => {
    const settings = readSettings(env);
    const clear = process.stdout.isTTY ? CLEAR : '';
    await untilInterrupted('Stopped.', (signal) =>
      top(
        settings,
        (overview) => {
          if (json) return print(JSON.stringify({ ...overview, needs: needsOf(overview) }));
          process.stdout.write(clear);
          print(frame(overview));
        },
        signal,
      ),
    );
  });
}

interface Overview {
  readonly at: Date;
  readonly database: DatabaseStatus;
  /** Null while the database cannot be used. */
  readonly flow: FlowOverview | null;
  /** Null until its first answer, or until it could not be reached. */
  readonly temporal: TemporalStatus | null;
}

/** The refresh interval, in milliseconds. */
const REFRESH_INTERVAL_MS = 1_000;
/** The period in which the flow is counted, in seconds. */
const FLOW_SECONDS = 10;
/** The refresh interval of slowly changing values (storage, workers), in milliseconds. */
const SLOW_REFRESH_INTERVAL_MS = 10_000;

async function followTemporal(
  settings: Settings,
  answered: (status: TemporalStatus) => void,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    answered(await askTemporal(settings).catch(problemOf));
    await pause(SLOW_REFRESH_INTERVAL_MS, signal);
  }
}

/** Follows the database. @throws when it cannot be used, or the signal is aborted */
async function followDatabase(
  sql: Pool,
  show: (database: DatabaseStatus, flow: FlowOverview) => void,
  signal: AbortSignal,
): Promise<never> {
  let storage = await readStorage(sql);
  let readAt = performance.now();
  for (;;) {
    const began = performance.now();
    if (began - readAt > SLOW_REFRESH_INTERVAL_MS) {
      storage = await readStorage(sql);
      readAt = began;
    }
    show({ problem: null, ...storage, ...(await readWork(sql)) }, await readFlow(sql, FLOW_SECONDS));
    await pause(Math.max(0, REFRESH_INTERVAL_MS - (performance.now() - began)), signal);
  }
}

/** Follows the database, and shows when it is away. */
async function followBoth(
  settings: Settings,
  show: (overview: Overview) => void,
  temporal: () => TemporalStatus | null,
  signal: AbortSignal,
): Promise<void> {
  const screenOf = (database: DatabaseStatus, flow: FlowOverview | null) =>
    show({ at: new Date(), database, flow, temporal: temporal() });
  for (;;) {
    try {
      await withDatabase(settings, (sql) => followDatabase(sql, screenOf, signal));
    } catch (error) {
      signal.throwIfAborted();
      screenOf(problemOf(error), null);
      await pause(REFRESH_INTERVAL_MS, signal);
    }
  }
}

/**
 * Refreshes until the signal is aborted.
 * @throws errors other than those of the database or Temporal
 */
export async function top(
  settings: Settings,
  show: (overview: Overview) => void,
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  let latest: TemporalStatus | null = null;
  const following = [
    followTemporal(
      settings,
      (status) => {
        latest = status;
      },
      either,
    ),
    followBoth(settings, show, () => latest, either),
  ];
  for (const each of following) each.catch((error: unknown) => failed.abort(error));
  await Promise.allSettled(following);
  if (!signal.aborted) throw failed.signal.reason;
}
