/** `waybill top`: the live status. */
import type { Command } from 'commander';
import { readSettings } from '../config/config.ts';
import type { Settings } from '../config/variables.ts';
import { type FlowOverview, readFlow } from '../db/overview.ts';
import { atMost } from '../lib/at-most.ts';
import { type CommandContext, noOptions, runs } from '../lib/command-line.ts';
import { delay } from '../lib/poll-until.ts';
import { remembered } from '../lib/remembered.ts';
import { untilInterrupted } from '../lib/shutdown.ts';
import { waitOrStop } from '../lib/wait-or-stop.ts';
import { pairs } from './layout.ts';
import { withDatabase } from './open-database.ts';
import {
  askDatabase,
  askTemporal,
  messagesOf,
  problemsOf,
  readStorage,
  type Status,
  statusProblem,
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
  return [pairs(rows), ...messagesOf(overview)].join('\n');
}

export function topCommand(command: Command, { env, print }: CommandContext): void {
  command.addHelpText(
    'after',
    '\nOn a terminal the display is redrawn; with --json, one line is printed per second.',
  );
  runs(command, noOptions, async ({ json }) => {
    const settings = readSettings(env);
    const clear = process.stdout.isTTY ? CLEAR : '';
    const show = (overview: Overview) => {
      if (json) return print(JSON.stringify({ ...overview, problems: problemsOf(overview) }));
      process.stdout.write(clear);
      print(frame(overview));
    };
    await untilInterrupted('Stopped.', (signal) => top(settings, show, signal));
  });
}

interface Overview extends Status {
  readonly at: Date;
  /** Null while the database cannot be used. */
  readonly flow: FlowOverview | null;
}

/** The refresh interval, in milliseconds. */
const REFRESH_INTERVAL_MS = 1_000;
/** The refresh interval of slowly changing values (storage, workers), in milliseconds. */
const SLOW_REFRESH_INTERVAL_MS = 10_000;
/** How long a refresh waits for Temporal, in ms. Too low: flickering rows. Too high: the other rows are late. */
const TEMPORAL_WAIT_MS = 250;

/**
 * Refreshes until the signal is aborted, also while the database or Temporal is unavailable.
 * @throws errors other than theirs
 */
async function top(
  settings: Settings,
  show: (overview: Overview) => void,
  signal: AbortSignal,
): Promise<void> {
  const askedTemporal = remembered(SLOW_REFRESH_INTERVAL_MS, () =>
    askTemporal(settings).catch(statusProblem),
  );
  async function showWith(database: Status['database'], flow: FlowOverview | null): Promise<void> {
    const temporal = (await atMost(TEMPORAL_WAIT_MS, askedTemporal())) ?? null;
    show({ at: new Date(), database, flow, temporal });
  }
  while (!signal.aborted) {
    try {
      await withDatabase(settings, async (sql) => {
        const storage = remembered(SLOW_REFRESH_INTERVAL_MS, () => readStorage(sql));
        for (;;) {
          const began = performance.now();
          const database = await askDatabase(sql, storage);
          await showWith(database, await readFlow(sql));
          await delay(Math.max(0, REFRESH_INTERVAL_MS - (performance.now() - began)), signal);
        }
      });
    } catch (error) {
      if (signal.aborted) return;
      await showWith(statusProblem(error), null);
      await waitOrStop(REFRESH_INTERVAL_MS, signal);
    }
  }
}
