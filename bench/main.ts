/**
 * `npm run bench`: compares Waybill with its floors in one table, under both values of WORKFLOWS, on its own stacks.
 *
 *     npm run bench -- --only calm,rush --runs 3
 *     npm run bench -- --quick
 */
import { loadavg } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { positiveInteger, positiveNumber } from '../test/support/harness/options.ts';
import { type Setting, settings } from '../test/support/harness/settings.ts';
import { stopOnInterruption } from '../test/support/programs/stop-on-interruption.ts';
import { evaluate } from './acceptance.ts';
import { json, machine, report } from './report.ts';
import { runSections } from './run.ts';
import { sections } from './sections/index.ts';
import type { Section } from './sections/section.ts';
import { createSheet } from './sheet.ts';
import { sizesOf } from './sizes.ts';

interface Options {
  readonly only: readonly Section[];
  readonly settings: readonly Setting[];
  readonly runs: number;
  readonly quick: boolean;
  readonly scale: number;
  readonly scenario: string;
  readonly slowLink: boolean;
  readonly cores?: number;
  readonly minutes: number;
  readonly json: boolean;
}

/** A list of names, each of which must be known. */
function someOf<T extends { readonly name: string }>(known: readonly T[]): (text: string) => readonly T[] {
  return (text) =>
    text.split(',').map((name) => {
      const found = known.find((one) => one.name === name.trim());
      if (found === undefined)
        throw new InvalidArgumentError(`there are ${known.map((one) => one.name).join(', ')}.`);
      return found;
    });
}
const someSettings = someOf(settings.map((name) => ({ name })));
const share = (text: string) => Math.min(1, positiveNumber(text));

const options = new Command('bench')
  .description('Measures Waybill on this machine, and for comparison Temporal alone and the sender alone.')
  .addHelpText(
    'after',
    `\nSections:\n${sections.map(({ name, about }) => `  ${name.padEnd(11)} ${about}`).join('\n')}`,
  )
  .addOption(
    new Option('--only <sections>', 'separated by commas')
      .argParser(someOf(sections))
      .default(sections, 'all'),
  )
  .addOption(
    new Option('--settings <list>', 'of WORKFLOWS')
      .argParser((text) => someSettings(text).map(({ name }) => name))
      .default(settings, 'all,undelivered'),
  )
  .option('--runs <n>', 'of everything; the table shows medians', positiveInteger, 1)
  .option('--quick', 'smoke run at minimum sizes', false)
  .option('--scale <share>', 'of the full sizes, such as 0.1', share, 1)
  .option('--scenario <text>', 'only the scenarios of neighbors with this text in their names', '')
  .option(
    '--slow-link',
    'add 50 ms to every call to Temporal and 5 ms to every round trip to Postgres',
    false,
  )
  .option('--cores <n>', 'of this machine that Waybill, Postgres and Temporal share', positiveInteger)
  .option('--minutes <n>', 'time limit for the whole run, in minutes', positiveInteger, 720)
  .option('--json', 'all figures as JSON instead of the table', false)
  .parse()
  .opts<Options>();

if (process.platform !== 'linux') throw new Error('The bench reads processor times from /proc: Linux only.');
const shutdown = stopOnInterruption();
const sheet = createSheet();
const started = performance.now();
const [loadBefore = 0] = loadavg();
const failures = await runSections(options.only, {
  ...options,
  sheet,
  shutdown,
  sizes: sizesOf(options),
  conditions: options,
  endsAt: started + options.minutes * 60_000,
  say: (text) => console.error(`${Math.round((performance.now() - started) / 1000)} s  ${text}`),
});
await shutdown.stop();
const results = evaluate(
  sheet,
  sections.filter((section) => options.only.includes(section)),
);
const how = {
  machine: machine(),
  loadBefore,
  runs: options.runs,
  seconds: (performance.now() - started) / 1000,
  failures,
} as const;
console.log(options.json ? json(sheet, results, how) : report(sheet, results, how));
// The smallest sizes prove that everything runs; their figures mean nothing.
const missed = !options.quick && results.some(({ met }) => met === false);
process.exit(failures.length === 0 && !missed ? 0 : 1);
