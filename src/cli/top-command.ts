/** `waybill top`: how things are, live. */
import { Command } from 'commander';
import { readSettings } from '../config/config.ts';
import { type CommandContext, checked, json, jsonSchema } from '../lib/command-line.ts';
import { untilInterrupted } from './interruption.ts';
import { pairs } from './layout.ts';
import { needsOf } from './status.ts';
import { databaseRows, flowRows, temporalRows } from './status-table.ts';
import { type Overview, top } from './top.ts';

/** Takes away what a terminal shows from its first line on. */
const CLEAR = '\u001b[H\u001b[J';

/** What needs somebody; of Temporal only once it has answered. */
function needsAt({ database, temporal }: Overview): string[] {
  const answered = temporal ?? { problem: null, address: '', namespace: '', taskQueue: '', workers: [''] };
  return needsOf({ database, temporal: answered });
}

function frame(overview: Overview): string {
  const { at, database, flow, temporal } = overview;
  const rows = [
    ['Time', `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`] as const,
    ...(flow === null ? [] : flowRows(flow)),
    ...databaseRows(database),
    ...(temporal === null ? [['Temporal', 'waiting for a response'] as const] : temporalRows(temporal)),
  ];
  return [pairs(rows), ...needsAt(overview)].join('\n');
}

/** The command. */
export function topCommand({ env, print }: CommandContext): Command {
  return new Command('top')
    .addOption(json())
    .addHelpText(
      'after',
      '\nOn a terminal the display is redrawn; with --json, one line is printed per second.',
    )
    .action(async (given: unknown) => {
      const options = checked(jsonSchema, given);
      const settings = readSettings(env);
      const clear = process.stdout.isTTY ? CLEAR : '';
      await untilInterrupted('Stopped.', (signal) =>
        top(
          settings,
          (overview) =>
            print(
              options.json
                ? JSON.stringify({ ...overview, needs: needsAt(overview) })
                : `${clear}${frame(overview)}`,
            ),
          signal,
        ),
      );
    });
}
