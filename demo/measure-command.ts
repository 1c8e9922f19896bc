/** `waybill measure`: the deliveries per second and the latency percentiles of an installation. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../src/config/config.ts';
import { type CommandContext, option, optional, runs, wholeNumber } from '../src/lib/command-line.ts';
import { createProgress } from '../src/lib/progress.ts';
import { untilInterrupted } from '../src/lib/shutdown.ts';
import { UserError } from '../src/lib/user-error.ts';
import { createClient } from './client.ts';
import { type Measured, measure, type Percentiles } from './measure.ts';
import { instanceUrl, loginOf, urlOption, webAddress } from './target.ts';

const measureOptions = v.object({
  rate: option('--rate <n>', 'changes per second', wholeNumber(1_000), '10'),
  seconds: option('--seconds <n>', 'for how long', wholeNumber(3_600), '30'),
  patience: option(
    '--patience <seconds>',
    'how long to wait without any delivery before giving up on the rest',
    wholeNumber(3_600),
    '30',
  ),
  host: option(
    '--host <address>',
    'address of this machine at which to receive deliveries',
    v.string(),
    '127.0.0.1',
  ),
  port: option('--port <n>', 'port for them; 0 takes a free one', wholeNumber(65_535, 0), '0'),
  receiverUrl: optional(
    '--receiver-url <url>',
    'URL by which the workers reach it; default: that host and port',
    webAddress,
  ),
  url: urlOption,
  credentials: optional(
    '--credentials <file>',
    'file with the output of waybill eshop create --json, ideally of a separate e-shop; default: the demonstration e-shop',
    v.string(),
  ),
});

/** The command, to be added to `waybill`. */
export function measureCommand(command: Command, { env, print }: CommandContext): void {
  runs(command, measureOptions, async ({ json, ...options }) => {
    const settings = readSettings(env);
    const client = createClient(await instanceUrl(options, settings), await loginOf(options, settings));
    const progress = createProgress(json, { withLines: true });
    const measured = await untilInterrupted('Stopped.', (signal) =>
      measure(client, options, {
        signal,
        show: (came, total) => progress.show(came, total, 'Deliveries arrive'),
      }).finally(() => progress.stop()),
    );
    print(json ? JSON.stringify(measured) : measuredText(measured));
    const missing = measured.requests - measured.refused - measured.delivered;
    if (missing > 0) throw new UserError(`${missing} deliveries did not arrive.`);
    if (measured.refused > 0) throw new UserError(`${measured.refused} requests failed: ${measured.reason}`);
  });
}

/** For people. */
function measuredText(measured: Measured): string {
  const { requests, refused, delivered, deliveriesPerSecond, answers, deliveries } = measured;
  const formatMs = (ms: number) => (ms < 10 ? ms.toFixed(1) : Math.round(ms).toString());
  const row = (name: string, found: Percentiles | null) =>
    [
      name.padEnd(24),
      ...[found?.p50, found?.p95, found?.p99, found?.max].map((ms) =>
        (ms === undefined ? '–' : formatMs(ms)).padStart(8),
      ),
    ].join('');
  return [
    `${requests - refused} changes accepted, ${delivered} delivered, ${deliveriesPerSecond.toFixed(1)} per second`,
    '',
    ['milliseconds'.padEnd(24), ...['p50', 'p95', 'p99', 'max'].map((each) => each.padStart(8))].join(''),
    row('request to response', answers),
    row('request to delivery', deliveries),
  ].join('\n');
}
