/** `waybill demo`: a day of a small warehouse, played against a running instance through its HTTP API. */
import { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../src/config/config.ts';
import { type CommandContext, checked, json, jsonSchema, whole } from '../src/lib/command-line.ts';
import { UserError } from '../src/lib/user-error.ts';
import { createClient } from './client.ts';
import { cleanDemo, runDemo } from './demo.ts';
import { interruption } from './interruption.ts';
import { webAddress } from './option-schemas.ts';
import { createProgress } from './progress.ts';
import { cleanSentence, sights } from './sights.ts';
import { closingSentence, summaryTable } from './summary.ts';
import { instanceUrl, loginOf, urlOption } from './target.ts';

const optionsSchema = v.pipe(
  v.object({
    ...jsonSchema.entries,
    url: v.optional(webAddress('url')),
    apiKey: v.optional(v.string()),
    username: v.optional(v.string()),
    password: v.optional(v.string()),
    warehouseUsername: v.optional(v.string()),
    warehousePassword: v.optional(v.string()),
    credentials: v.optional(v.string()),
    rate: whole('rate', 1_000),
    orders: whole('orders', 10_000),
    seed: v.optional(v.string()),
    receive: v.optional(v.literal(true)),
    webhooks: v.optional(webAddress('webhooks')),
    keepWebhooks: v.optional(v.literal(true)),
    clean: v.optional(v.literal(true)),
  }),
  v.check(
    ({ clean, receive, webhooks }) =>
      clean === undefined || (receive === undefined && webhooks === undefined),
    '--clean plays no day: it cannot be combined with --receive or --webhooks.',
  ),
  v.check(
    ({ receive, webhooks }) => receive === undefined || webhooks === undefined,
    '--receive and --webhooks cannot be combined: deliveries go to one or the other.',
  ),
  v.check(
    ({ keepWebhooks, webhooks }) => keepWebhooks === undefined || webhooks !== undefined,
    '--keep-webhooks needs --webhooks.',
  ),
);

/** The command, to be added to `waybill`. */
export function demoCommand({ env, print }: CommandContext): Command {
  return new Command('demo')
    .option(
      '--receive',
      'start a receiver on this machine that verifies and counts the deliveries; its webhooks stay, inactive, to be looked at in the console',
    )
    .option(
      '--webhooks <url>',
      'base URL of your receiver: one webhook per event type is registered at <url>/<type>, and removed at the end',
    )
    .option('--keep-webhooks', 'leave these webhooks registered')
    .option('--clean', 'only remove the webhooks that demonstrations have left, with their deliveries')
    .option('--orders <n>', 'number of orders', '50')
    .option('--rate <n>', 'requests per second', '20')
    .option('--seed <text>', 'seed; the same seed repeats the same day')
    .addOption(urlOption())
    .option(
      '--credentials <file>',
      'file with the output of waybill eshop create --json; default: the demonstration e-shop',
    )
    .option('--api-key <key>', 'API key, instead of the one in that file')
    .option('--username <name>', 'name of the shop user')
    .option('--password <password>', 'password of the shop user')
    .option('--warehouse-username <name>', 'name of the warehouse user')
    .option('--warehouse-password <password>', 'password of the warehouse user')
    .addOption(json())
    .action(async (written: unknown) => {
      const options = checked(optionsSchema, written);
      const settings = readSettings(env);
      const url = await instanceUrl(options, settings);
      const client = createClient(url, await loginOf(options, settings));
      const progress = createProgress(options.json === true);
      const warn = (sentence: string) => void process.stderr.write(`${sentence}\n`);
      const { signal, done } = interruption();
      try {
        if (options.clean) {
          const removed = await cleanDemo(client, { signal, warn });
          if (options.json) print(JSON.stringify({ removed }));
          else print(cleanSentence(removed));
          return;
        }
        const { summary, problem } = await runDemo(client, options, { signal, progress, warn });
        if (options.json) print(JSON.stringify(summary));
        else {
          print(`${summaryTable(summary)}\n\n${closingSentence(summary)}`);
          if (summary.scenes.length > 0) print(`\n${sights(url, summary.scenes, summary.kinds.length)}`);
        }
        if (problem !== null) throw new UserError(problem);
      } finally {
        done();
      }
    });
}
