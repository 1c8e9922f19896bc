/** `waybill measure`: the deliveries per second and the latency percentiles of an installation. */
import { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../src/config/config.ts';
import { type CommandContext, checked, json, jsonSchema, whole } from '../src/lib/command-line.ts';
import { UserError } from '../src/lib/user-error.ts';
import { createClient } from './client.ts';
import { interruption } from './interruption.ts';
import { type Measured, measure, type Percentiles } from './measure.ts';
import { webAddress } from './option-schemas.ts';
import { createProgress } from './progress.ts';
import { instanceUrl, loginOf, urlOption } from './target.ts';

const optionsSchema = v.object({
  ...jsonSchema.entries,
  url: v.optional(webAddress('url')),
  credentials: v.optional(v.string()),
  rate: whole('rate', 1_000),
  seconds: whole('seconds', 3_600),
  patience: whole('patience', 3_600),
  host: v.string(),
  port: whole('port', 65_535, 0),
  receiverUrl: v.optional(webAddress('receiver-url')),
});

/** The command, to be added to `waybill`. */
export function measureCommand({ env, print }: CommandContext): Command {
  return new Command('measure')
    .option('--rate <n>', 'changes per second', '10')
    .option('--seconds <n>', 'for how long', '30')
    .option('--patience <seconds>', 'in which nothing arrives before the rest is given up', '30')
    .option('--host <address>', 'of this machine, where deliveries are received', '127.0.0.1')
    .option('--port <n>', 'of the same; 0: any that is free', '0')
    .option('--receiver-url <url>', 'how the workers reach it; default: by that host and port')
    .addOption(urlOption())
    .option(
      '--credentials <file>',
      'file with the output of waybill eshop create --json, best of an e-shop for this alone; default: the demonstration e-shop',
    )
    .addOption(json())
    .action(async (written: unknown) => {
      const options = checked(optionsSchema, written);
      const settings = readSettings(env);
      const client = createClient(await instanceUrl(options, settings), await loginOf(options, settings));
      const progress = createProgress(options.json === true);
      const { signal, done } = interruption();
      try {
        const measured = await measure(client, options, {
          signal,
          show: (came, total) => progress.show(came, total, 'Deliveries arrive'),
        }).finally(() => progress.stop());
        print(options.json ? JSON.stringify(measured) : measuredText(measured));
        const missing = measured.requests - measured.refused - measured.delivered;
        if (missing > 0) throw new UserError(`${missing} deliveries did not arrive.`);
        if (measured.refused > 0)
          throw new UserError(`${measured.refused} requests failed: ${measured.reason}`);
      } finally {
        done();
      }
    });
}

/** For people. */
export function measuredText(measured: Measured): string {
  const { requests, refused, delivered, deliveriesPerSecond, answers, deliveries } = measured;
  const shown = (ms: number) => (ms < 10 ? ms.toFixed(1) : Math.round(ms).toString());
  const row = (name: string, found: Percentiles | null) =>
    [
      name.padEnd(24),
      ...[found?.p50, found?.p95, found?.p99, found?.max].map((ms) =>
        (ms === undefined ? '–' : shown(ms)).padStart(8),
      ),
    ].join('');
  return [
    `${requests - refused} changes accepted, ${delivered} delivered, ${deliveriesPerSecond.toFixed(1)} per second`,
    '',
    ['milliseconds'.padEnd(24), ...['p50', 'p95', 'p99', 'most'].map((each) => each.padStart(8))].join(''),
    row('request to answer', answers),
    row('request to delivery', deliveries),
  ].join('\n');
}
