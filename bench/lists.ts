/**
 * `npm run bench:lists`: the lists of events and deliveries over ten million rows. Prints how long each query takes, the
 * second time it is asked, and by which indexes; ends with exit code 1 when one reads a whole table.
 *
 *     npm run bench:lists -- --events 1000000
 * @module
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { migrate } from '../src/db/migrate.ts';
import { createPool } from '../src/db/pool.ts';
import { stopOnInterruption } from '../src/shutdown.ts';
import { answered, deliveriesQuery, listQueries, seedLists } from './list-queries.ts';
import { positiveInteger } from './options.ts';
import { startDatabase } from './stack.ts';

const { events } = new Command('bench:lists')
  .description('Measures the lists of events and deliveries over many rows.')
  .option('--events <n>', 'events, each with its delivery', positiveInteger, 10_000_000)
  .parse()
  .opts<{ readonly events: number }>();

const shutdown = stopOnInterruption();
try {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-bench-lists-'));
  await shutdown.add(() => rm(directory, { recursive: true, force: true }));
  // As root, Postgres runs as a user of its own, who has to enter the folder.
  await chmod(directory, 0o755);
  const postgres = await startDatabase(join(directory, 'database'));
  await migrate(postgres.url);
  await shutdown.add(() => postgres.stop());
  const sql = createPool(postgres.url, 2, { statementMs: null, silenceMs: null });
  await shutdown.add(() => sql.end());
  const seeded = await seedLists(sql, events);
  const rows = [];
  for (let round = 1; round <= 2; round += 1) {
    const queries = [...listQueries(sql, seeded), await deliveriesQuery(sql, seeded)];
    for (const query of queries) {
      const answer = await answered(query);
      if (round === 2) rows.push(answer);
    }
  }
  for (const { name, ms, indexes, scanned } of rows) {
    const read = scanned.filter((table) => table !== 'webhooks' && table !== 'webhook_versions');
    if (read.length > 0) process.exitCode = 1;
    console.log(
      `${ms.toFixed(1).padStart(9)} ms  ${name}  ${[...indexes, ...read.map((table) => `WHOLE ${table}`)].join(', ')}`,
    );
  }
} finally {
  await shutdown.stop();
}
