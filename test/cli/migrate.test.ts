/** `waybill migrate`: brings a database up to date before anything serves from it. */
import { expect, it } from 'vitest';
import { databaseOfTest } from '../support/lifetimes.ts';
import { triedWaybill } from '../support/programs/waybill-command.ts';

it('migrate creates all tables once, and then has nothing to do', async () => {
  const { url, sql } = await databaseOfTest();
  const migrate = (...args: string[]) => triedWaybill(['migrate', ...args], { DATABASE_URL: url });
  const files = await sql<{ name: string }[]>`select name from migrations order by name`;
  await sql.unsafe('drop schema public cascade; create schema public');

  const { printed } = await migrate();
  expect(printed).toBe([...files.map(({ name }) => name), `${files.length} migrations applied.`].join('\n'));
  expect((await sql`select from events`).length).toBe(0);
  expect(await migrate()).toEqual({ printed: 'The database is up to date.', error: undefined, code: 0 });
  expect((await migrate('--json')).printed).toBe('{"applied":[]}');
});

it('migrate refuses a database of other migrations, and leaves it unchanged', async () => {
  const { url, sql } = await databaseOfTest();
  await sql.unsafe(`drop schema public cascade; create schema public;
    create table migrations (name text primary key, hash text not null, applied_at timestamptz not null default now());
    insert into migrations (name, hash) values ('0001-foundation.sql', 'a'), ('0002-orders-products.sql', 'b');`);

  expect(await triedWaybill(['migrate'], { DATABASE_URL: url })).toMatchObject({
    error:
      'The database was created by other migrations than those of this Waybill, and cannot be upgraded: set DATABASE_URL to a new one (DATA_DIR to a new folder if Postgres is embedded), and TEMPORAL_NAMESPACE too if you run Temporal yourself.',
    code: 1,
  });
  expect(await sql`select name from migrations order by name`).toHaveLength(2);
  expect(await sql`select from pg_tables where schemaname = 'public'`).toHaveLength(1);
});

it('migrate exits with 1 and one sentence without a database', async () => {
  expect(await triedWaybill(['migrate'], { DATABASE_URL: 'postgres://127.0.0.1:1/waybill' })).toMatchObject({
    error: 'The database at DATABASE_URL cannot be reached.',
    code: 1,
  });
  expect(await triedWaybill(['migrate'], {})).toMatchObject({
    error: 'DATABASE_URL is not set: an embedded database is migrated when Waybill starts.',
    code: 1,
  });
});
