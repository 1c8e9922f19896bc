/**
 * `npm run fuzz`: the whole API against its own `/openapi.json`, with requests that Schemathesis generates from it
 * (https://schemathesis.io, from PyPI; needs Python 3.10). It starts its own Postgres and API, and exits with 1 if a
 * response is a 5xx, has an undocumented status or breaks its schema.
 *
 *     npm run fuzz -- --seconds 120 --seed 7
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { createEshopWithUsers } from '../../src/app/accounts.ts';
import { createPool } from '../../src/db/connection/pool.ts';
import { openDataDir } from '../../src/embedded/data-dir.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { login } from '../support/api/client.ts';
import { positiveInteger } from '../support/harness/options.ts';
import { fromSources, startProgram } from '../support/programs/program.ts';
import { stopOnInterruption } from '../support/programs/stop-on-interruption.ts';
import { freePort } from '../support/servers/ports.ts';
import { seedRecords } from './records.ts';
import { findSchemathesis, runSchemathesis } from './schemathesis.ts';

const options = new Command('fuzz')
  .description('Sends made-up requests to every operation and holds the answers against /openapi.json.')
  .option('--seconds <n>', 'the longest the requests may take', positiveInteger, 100)
  .option('--examples <n>', 'made-up requests per operation', positiveInteger, 25)
  .option('--seed <n>', 'makes the same requests again', positiveInteger, 1)
  .parse()
  .opts<{ readonly seconds: number; readonly examples: number; readonly seed: number }>();

/** Long enough beside other work, in milliseconds. */
const START_MS = 120_000;

const shutdown = stopOnInterruption();

try {
  process.exitCode = await fuzz();
} finally {
  await shutdown.stop();
}

/** @returns the exit code */
async function fuzz(): Promise<number> {
  const schemathesis = await findSchemathesis((text) => console.error(text));
  const directory = await mkdtemp(join(tmpdir(), 'waybill-fuzz-'));
  await shutdown.add(() => rm(directory, { recursive: true, force: true }));
  // As root, Postgres runs as another user, who must be able to enter the folder.
  await chmod(directory, 0o755);
  const postgres = await startPostgres(await openDataDir(join(directory, 'database')), () => {});
  await shutdown.add(() => postgres.stop());
  const env = {
    DATABASE_URL: postgres.url,
    // No server listens there: an API works without Temporal.
    TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: join(directory, 'data'),
    ROLE: 'api',
    // Links to confirm addresses lead there: without it none can be added.
    PUBLIC_URL: 'https://waybill.example',
    // Tests of made-up webhooks end soon: no server listens there either.
    DNS_SERVERS: `127.0.0.1:${await freePort()}`,
    DELIVERY_TIMEOUT: '1s',
  };
  const program = await startProgram(env, START_MS, fromSources);
  await shutdown.add(() => program.stop());
  const sql = createPool(postgres.url, 1);
  const credentials = await createEshopWithUsers(sql, { name: 'Fuzz', email: 'fuzz@shop.example' });
  await sql.end();
  const shop = await login(program.url, credentials);
  const warehouse = await login(program.url, { ...credentials, ...credentials.warehouse });
  const records = await seedRecords(shop, warehouse);

  const url = `${program.url}/openapi.json`;
  // The warehouse's user may do everything; the warehouse's operations refuse the e-shop's user.
  const everything = await runSchemathesis(schemathesis, {
    ...options,
    url,
    headers: warehouse.headers,
    records,
  });
  const refused = await runSchemathesis(schemathesis, {
    ...options,
    url,
    headers: shop.headers,
    records,
    examples: 5,
    seconds: 15,
    only: '^/v21/warehouse/',
  });
  const log = program
    .output()
    .split('\n')
    .filter((line) => line.includes('"level":50'));
  for (const line of log) console.error(line);
  const failed = everything !== 0 || refused !== 0 || log.length > 0;
  console.log(
    failed ? 'fuzz: failed' : 'fuzz: no 5xx, no undocumented status, no answer that breaks its schema',
  );
  return failed ? 1 : 0;
}
