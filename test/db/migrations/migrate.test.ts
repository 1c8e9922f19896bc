/** Migrations of a database that is in use. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { migrate } from '../../../src/db/migrate.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import { folderOfTest } from '../../support/ends.ts';
import { databaseOfTest } from '../../support/lifetimes.ts';

let database: TestDatabase;
let directory: string;

beforeEach(async () => {
  database = await databaseOfTest();
  await database.sql`drop table migrations`;
  directory = await folderOfTest('waybill-migrations-');
});

const write = (name: string, text: string) => writeFile(join(directory, name), text);

/** Collects messages; `first` resolves with the first one. */
function sayings() {
  const said: string[] = [];
  let hear: () => void = () => {};
  return {
    said,
    say: (text: string) => {
      said.push(text);
      hear();
    },
    first: () =>
      new Promise<void>((resolve) => {
        hear = resolve;
        if (said.length > 0) resolve();
      }),
  };
}

test('a migration waits for a lock beyond the statement time-out, names its holder, and succeeds', async () => {
  await write('0001-more.sql', 'alter table webhooks add column more text;');
  const { say, said, first } = sayings();
  let applied: Promise<string[]> = Promise.resolve([]);
  let readable = false;

  await database.sql.begin(async (tx) => {
    await tx`lock table webhooks in access share mode`;
    applied = migrate(database.url, { say, directory });
    await first();
    // Later queries pass in between.
    await database.sql`select count(*) from webhooks`;
    readable = true;
  });

  expect(await applied).toEqual(['0001-more.sql']);
  expect(readable).toBe(true);
  expect(said).toEqual([
    expect.stringMatching(
      /^Database: 0001-more\.sql is waiting for database process \d+ \(waybill\), which has held a lock on webhooks for \d+ s\.$/,
    ),
  ]);
  expect(await database.sql`select more from webhooks`).toEqual([]);
});

test('a migration may take longer than a statement of the pool', async () => {
  await write(
    '0001-limits.sql',
    "create table limits as select current_setting('statement_timeout') as statement;",
  );

  expect(await migrate(database.url, { directory })).toEqual(['0001-limits.sql']);
  expect(await database.sql`select * from limits`).toEqual([{ statement: '0' }]);
});

test('a file marked as such runs outside a transaction, one statement at a time', async () => {
  await write(
    '0001-index.sql',
    `-- outside a transaction
drop index concurrently if exists webhooks_by_text;
-- Read by; nobody.
create index concurrently webhooks_by_text on webhooks (url)
  where url <> ';';
`,
  );

  expect(await migrate(database.url, { directory })).toEqual(['0001-index.sql']);
  expect(await migrate(database.url, { directory })).toEqual([]);

  const [index] =
    await database.sql`select indisvalid from pg_index where indexrelid = 'webhooks_by_text'::regclass`;
  expect(index).toEqual({ indisvalid: true });
});

test('a migration that was interrupted is started again', async () => {
  const text = `-- outside a transaction
drop index concurrently if exists webhooks_by_text;
create index concurrently webhooks_by_text on webhooks (url);
`;
  await write('0001-index.sql', `${text}select 1 / 0;\n`);
  await expect(migrate(database.url, { directory })).rejects.toThrow('division by zero');
  await write('0001-index.sql', text);

  expect(await migrate(database.url, { directory })).toEqual(['0001-index.sql']);
});

test('processes that start at once apply each migration once, without a deadlock', async () => {
  await write('0001-table.sql', 'create table things (id int);');
  await write(
    '0002-index.sql',
    '-- outside a transaction\ndrop index concurrently if exists things_by_id;\ncreate index concurrently things_by_id on things (id);\n',
  );

  const applied = await Promise.all([1, 2, 3].map(() => migrate(database.url, { directory })));

  expect(applied.flat().sort()).toEqual(['0001-table.sql', '0002-index.sql']);
});

test('an index of a partitioned table is built on every partition, even after an interruption', async () => {
  const { sql } = database;
  const example = await readFile(new URL('../../../docs/adding.md', import.meta.url), 'utf8');
  const [, text = ''] = /```sql\n(-- outside[\s\S]*?)```/.exec(example) ?? [];
  // A migration died while it built the second partition's index.
  await sql`create index deliveries_first_by_entity on deliveries_first (eshop_id, entity_id)`;
  await sql`create index deliveries_default_by_entity on deliveries_default (eshop_id, entity_id)`;
  await sql`update pg_index set indisvalid = false where indexrelid = 'deliveries_default_by_entity'::regclass`;
  await write('0001-index.sql', text);

  expect(await migrate(database.url, { directory })).toEqual(['0001-index.sql']);

  const [index] = await sql`
    select indisvalid, (select count(*)::int from pg_inherits where inhparent = indexrelid) as parts
    from pg_index where indexrelid = 'deliveries_by_entity'::regclass`;
  const [partitions] = await sql`
    select count(*)::int as parts from pg_inherits where inhparent = 'deliveries'::regclass`;
  expect(index).toEqual({ indisvalid: true, parts: partitions?.parts });
});

test('time-outs of the role or database end neither a migration nor its lock', async () => {
  await write('0001-inside.sql', 'select pg_sleep(1.2);');
  await write('0002-outside.sql', '-- outside a transaction\nselect pg_sleep(1.2);');
  const name = new URL(database.url).pathname.slice(1);
  const limits = ['statement_timeout', 'idle_session_timeout', 'idle_in_transaction_session_timeout'];
  const [server] = await database.sql<{ limits: string[] }[]>`
    select array(select name from pg_settings where name = any(${[...limits, 'transaction_timeout']})) as limits`;
  const found = server?.limits ?? [];
  expect(found).toContain('statement_timeout');
  for (const limit of found) await database.sql.unsafe(`alter database ${name} set ${limit} = '1s'`);
  try {
    expect(await migrate(database.url, { directory })).toEqual(['0001-inside.sql', '0002-outside.sql']);
  } finally {
    for (const limit of found) await database.sql.unsafe(`alter database ${name} reset ${limit}`);
  }
});
