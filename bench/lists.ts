/**
 * `npm run bench:lists`: `GET /deliveries` and `GET /events` over ten million deliveries, with every combination of filters,
 * from the newest on and behind a cursor: how long the first page takes, and how Postgres finds it. Ends with exit code 1 if a
 * table was read whole. And the screens of the console over the same.
 *
 *     npm run bench:lists -- --rows 2000000 --deepest
 *     npm run bench:lists -- --screens
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { migrate } from '../src/db/migrate.ts';
import { createPool } from '../src/db/pool.ts';
import { stopOnInterruption } from '../src/lib/shutdown.ts';
import { listsTable, type Measured, measureList, slowest } from './lists/measure.ts';
import { createPlanner } from './lists/plan.ts';
import { directions, listQueries } from './lists/queries.ts';
import { measureScreens, screensTable } from './lists/screens.ts';
import { seedLists } from './lists/seed.ts';
import { positiveInteger } from './options.ts';
import { startDatabase } from './stack.ts';

const { rows, times, deepest, screens, json } = new Command('bench:lists')
  .description('Measures the lists of events and deliveries over many rows.')
  .option('--rows <n>', 'deliveries', positiveInteger, 10_000_000)
  .option('--times <n>', 'each list is read', positiveInteger, 20)
  .option(
    '--deepest',
    'the last page that a list reaches, too: with a state or a time it takes seconds',
    false,
  )
  .option('--screens', 'the screens of the console alone', false)
  .option('--json', 'every combination, for programs', false)
  .parse()
  .opts<{
    readonly rows: number;
    readonly times: number;
    readonly deepest: boolean;
    readonly screens: boolean;
    readonly json: boolean;
  }>();

/** The most of the slowest that are named. */
const NAMED = 20;
const say = (text: string) => console.error(text);
const shutdown = stopOnInterruption();
try {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-bench-lists-'));
  await shutdown.add(() => rm(directory, { recursive: true, force: true }));
  // As root, Postgres runs as a user of its own, who has to enter the folder.
  await chmod(directory, 0o755);
  const postgres = await startDatabase(join(directory, 'database'));
  await shutdown.add(() => postgres.stop());
  await migrate(postgres.url);
  const sql = createPool(postgres.url, 2, { statementMs: null, silenceMs: null });
  await shutdown.add(() => sql.end());
  const seeded = await seedLists(sql, rows, say);
  say(`${seeded.deliveries} deliveries are stored.`);
  const queries = screens ? [] : listQueries(sql, seeded);
  const asked = directions.filter((direction) => deepest || direction !== 'deepest');
  const measured: Measured[] = [];
  const planner = await createPlanner(postgres.url, sql);
  await shutdown.add(() => planner.end());
  for (const [index, query] of queries.entries()) {
    for (const direction of asked) measured.push(await measureList(planner, query, direction, times));
    if (index % 50 === 49) say(`${index + 1} of ${queries.length} combinations of filters`);
  }
  const ofConsole = createPool(postgres.url, 8);
  await shutdown.add(() => ofConsole.end());
  const pages = await measureScreens(ofConsole, seeded, times);
  if (json) console.log(JSON.stringify({ rows: seeded.deliveries, times, measured, screens: pages }));
  else {
    if (!screens) console.log(`${listsTable(measured)}\n\n${slowest(measured, NAMED).join('\n')}\n`);
    console.log(screensTable(pages));
  }
  const whole = measured
    .flatMap(({ scanned }) => scanned)
    .filter((name) => /^(events|deliveries|redeliv)/.test(name));
  if (whole.length > 0) {
    process.exitCode = 1;
    say(`Read from their beginning to their end: ${[...new Set(whole)].join(', ')}`);
  }
} finally {
  await shutdown.stop();
}
