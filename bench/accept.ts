/**
 * `npm run bench:accept`: what accepting costs. Order creation one by one and imports, with 0, 1 and 10 webhooks, as
 * processor time of the API and Postgres together; with `--compare` the same of another checkout, in turns, on the
 * same Postgres.
 *
 *     npm run bench:accept -- --compare ../before --rounds 3
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { stopOnInterruption } from '../src/lib/shutdown.ts';
import { measureHolds } from './accept/holds.ts';
import { acceptReport, oneMeasure } from './accept/report.ts';
import { type Measure, runScenario, scenarios } from './accept/scenarios.ts';
import { startTree, type Tree } from './accept/tree.ts';
import { positiveInteger, wholeNumber } from './options.ts';
import { startDatabase } from './stack.ts';

/** `0,1,10` → numbers. */
const numbers = (text: string) => text.split(',').map(wholeNumber);

interface Options {
  readonly compare?: string;
  readonly rounds: number;
  readonly orders: number;
  readonly webhooks: readonly number[];
  readonly only: string;
  readonly holds: boolean;
  readonly json: boolean;
  readonly profile?: string;
}

const options = new Command('bench:accept')
  .description('Measures what the API and Postgres use for an order and for a line of an import.')
  .option('--compare <path>', 'another checkout, measured in turns with this one')
  .option('--rounds <n>', 'rounds; the table shows their medians', positiveInteger, 3)
  .option('--orders <n>', 'orders in a round; an import has two lines for each', positiveInteger, 1000)
  .option('--webhooks <list>', 'how many webhooks are subscribed to each kind of event', numbers, [0, 1, 10])
  .option('--only <text>', 'only scenarios with this in their name', '')
  .option('--holds', 'instead, how long the largest requests hold the event loop', false)
  .option('--json', 'JSON instead of a table', false)
  .option('--profile <folder>', 'write a CPU profile of each API there')
  .parse()
  .opts<Options>();

const shutdown = stopOnInterruption();
try {
  await measure();
} finally {
  await shutdown.stop();
}

async function measure(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-bench-accept-'));
  await shutdown.add(() => rm(directory, { recursive: true, force: true }));
  // As root, Postgres runs as a user of its own, who has to enter the folder.
  await chmod(directory, 0o755);
  const postgres = await startDatabase(join(directory, 'database'));
  await shutdown.add(postgres.stop);
  const paths = [...(options.compare === undefined ? [] : [['before', options.compare]]), ['now', '.']];
  const trees: Tree[] = [];
  for (const [name = '', path = '.'] of paths) {
    const tree = await startTree(
      {
        name,
        path: resolve(path),
        postgres,
        webhooks: options.webhooks,
        ...(options.profile === undefined ? {} : { profile: join(resolve(options.profile), name) }),
      },
      join(directory, name),
      shutdown,
    );
    trees.push(tree);
  }
  if (options.holds) {
    console.log(await measureHolds(trees, options.webhooks.at(-1) ?? 0));
    return;
  }
  const measures: Measure[] = [];
  // The first round warms compilers, caches and connections, and is not counted.
  for (let round = 0; round <= options.rounds; round += 1) {
    for (const webhooks of options.webhooks) {
      for (const scenario of scenarios.filter(({ name }) => name.includes(options.only))) {
        for (const tree of trees) {
          const measured = await runScenario(tree, scenario, webhooks, options.orders);
          if (round > 0) measures.push(measured);
          console.error(`${round === 0 ? 'warm-up' : `round ${round}`}: ${oneMeasure(measured)}`);
        }
      }
    }
    if (round === 0) for (const tree of trees) await tree.analyze();
  }
  console.log(options.json ? JSON.stringify(measures, null, 2) : acceptReport(measures));
}
