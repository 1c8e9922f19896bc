/** `waybill demo`: a day of a small warehouse, played against a running instance through its HTTP API. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../src/config/config.ts';
import { type CommandContext, flag, option, optional, runs, wholeNumber } from '../src/lib/command-line.ts';
import { createProgress } from '../src/lib/progress.ts';
import { untilInterrupted } from '../src/lib/shutdown.ts';
import { UserError } from '../src/lib/user-error.ts';
import { createClient } from './client.ts';
import { cleanDemo, runDemo } from './demo.ts';
import { cleanMessage, sceneResults } from './scene-results.ts';
import { closingMessage, summaryTable } from './summary.ts';
import { instanceUrl, loginOf, urlOption, webAddress } from './target.ts';

const text = v.optional(v.string());
const demoOptions = v.pipe(
  v.object({
    receive: flag(
      '--receive',
      'start a receiver on this machine that verifies and counts the deliveries; its webhooks remain, inactive, for you to look at in the console',
    ),
    webhooks: optional(
      '--webhooks <url>',
      'base URL of your receiver: one webhook per event type is registered at <url>/<type>, and removed at the end',
      webAddress,
    ),
    keepWebhooks: flag('--keep-webhooks', 'leave these webhooks registered'),
    clean: flag('--clean', 'only remove the webhooks that demonstrations have left, with their deliveries'),
    orders: option('--orders <n>', 'number of orders', wholeNumber(10_000), '50'),
    rate: option('--rate <n>', 'requests per second', wholeNumber(1_000), '20'),
    seed: option('--seed <text>', 'seed; the same seed repeats the same day', text),
    url: urlOption,
    credentials: option(
      '--credentials <file>',
      'file with the output of waybill eshop create --json; default: the demonstration e-shop',
      text,
    ),
  }),
  v.check(
    ({ clean, receive, webhooks }) => !(clean && (receive || webhooks !== undefined)),
    '--clean plays no day: it cannot be combined with --receive or --webhooks.',
  ),
  v.check(
    ({ receive, webhooks }) => !(receive && webhooks !== undefined),
    '--receive and --webhooks cannot be combined: deliveries go to one or the other.',
  ),
  v.check(
    ({ keepWebhooks, webhooks }) => !(keepWebhooks && webhooks === undefined),
    '--keep-webhooks needs --webhooks.',
  ),
);

/** The command, to be added to `waybill`. */
export function demoCommand(command: Command, { env, print }: CommandContext): void {
  runs(command, demoOptions, async ({ json, ...options }) => {
    const settings = readSettings(env);
    const url = await instanceUrl(options, settings);
    const client = createClient(url, await loginOf(options, settings));
    const progress = createProgress(json, { withLines: true });
    const warn = (message: string) => void process.stderr.write(`${message}\n`);
    await untilInterrupted('Stopped.', async (signal) => {
      if (options.clean) {
        const removed = await cleanDemo(client, { signal, warn });
        return print(json ? JSON.stringify({ removed }) : cleanMessage(removed));
      }
      const { summary, otherWebhooks, problem } = await runDemo(client, options, { signal, progress, warn });
      if (json) print(JSON.stringify(summary));
      else {
        print(`${summaryTable(summary)}\n\n${closingMessage(summary)}`);
        if (summary.scenes.length > 0) {
          const instance = { url, dataDir: settings.DATA_DIR };
          print(`\n${sceneResults(instance, summary.scenes, otherWebhooks)}`);
        }
      }
      if (problem !== null) throw new UserError(problem);
    });
  });
}
