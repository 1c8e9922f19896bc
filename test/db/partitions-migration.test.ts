/** A database from before the partitions becomes partitioned, beside those who use it. */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { migrate } from '../../src/db/migrate.ts';
import { listPartitions } from '../../src/db/retention/partitions.ts';
import { makeAhead } from '../../src/retention/retain.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertDelivery, weeksAfter } from '../support/weeks.ts';

const MIGRATIONS = fileURLToPath(new URL('../../src/db/migrations/', import.meta.url));

/** A folder with the migrations before a number. */
async function migrationsBefore(number: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'waybill-migrations-'));
  for (const name of await readdir(MIGRATIONS)) {
    if (name < number) await cp(join(MIGRATIONS, name), join(folder, name));
  }
  return folder;
}

let database: TestDatabase;
let before: string;
let withPartitions: string;
beforeAll(async () => {
  before = await migrationsBefore('0040');
  withPartitions = await migrationsBefore('0043');
  database = await createTestDatabase();
  await database.sql.unsafe('drop schema public cascade; create schema public');
  await migrate(database.url, { directory: before });
});
afterAll(async () => {
  await database.drop();
  for (const folder of [before, withPartitions]) await rm(folder, { recursive: true, force: true });
});

test('every row stays, also of a clock that was ahead; what is written meanwhile is there; indexes and keys are those from before', async () => {
  const { sql } = database;
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
  // Not by the program, which is ahead of this database.
  const [webhook] = await sql<{ id: number }[]>`
    insert into webhooks (eshop_id, url, webhook_type, method, active, payload_version, secret)
    values (${eshopId}, 'https://shop.example', 'CREATE_ORDER', 'POST', true, 'v2', '') returning id`;
  const webhookId = webhook?.id ?? 0;
  const insert = (at: Date) => insertDelivery(sql, { eshopId, webhookId, at });
  const ids: string[] = [];
  for (let weeks = -5; weeks <= 0; weeks += 1) ids.push((await insert(weeksAfter(new Date(), weeks))).id);
  ids.push((await insert(weeksAfter(new Date(), 3))).id);
  const indexes = () => sql`
    select indexrelid::regclass::text as name,
      regexp_replace(pg_get_indexdef(indexrelid), 'ON (ONLY )?public', 'ON public') as definition, indisunique, indisvalid
    from pg_index join pg_class c on c.oid = indrelid
    where c.relname in ('events', 'deliveries', 'attempts') order by 1`;
  const indexesBefore = await indexes();
  let writing = true;
  const writer = (async () => {
    while (writing) ids.push((await insert(new Date())).id);
  })();

  await migrate(database.url, { directory: withPartitions });
  writing = false;
  await writer;

  expect(await indexes()).toEqual(indexesBefore);
  const kept = await sql<{ id: string; number: number }[]>`
    select d.id, a.number from deliveries d join events e on e.id = d.event_id join attempts a on a.delivery_id = d.id`;
  expect(new Map(kept.map(({ id, number }) => [id, number]))).toEqual(new Map(ids.map((id) => [id, 1])));
  const [{ astray } = { astray: -1 }] = await sql<{ astray: number }[]>`
    select count(*)::int as astray from deliveries where tableoid <> 'deliveries_first'::regclass`;
  expect(astray).toBe(0);
  expect(await sql`select from settings where name like 'partitions%'`).toEqual([]);
  expect(await sql`select from pg_constraint where conname = 'ends'`).toEqual([]);
  const [first] = await listPartitions(sql);
  expect(first?.until?.getTime()).toBeGreaterThan(weeksAfter(new Date(), 3).getTime());
  // A week made later is like those of the migration.
  const { made } = await makeAhead(sql, { now: first?.until ?? new Date() });
  expect(made).toHaveLength(4);
});
