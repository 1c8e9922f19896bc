/** Settings that a role or a database may have for every session, and a server that accepts no writes. */
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { failureOf } from '../../../src/api/errors.ts';
import { readMigrations } from '../../../src/db/applied-migrations.ts';
import { databaseAnswers } from '../../../src/db/connection/health.ts';
import { createPool, type Pool, type PoolOptions } from '../../../src/db/connection/pool.ts';
import { createSessionPool, inspectServer } from '../../../src/db/connection/server.ts';
import { databaseProblem } from '../../../src/lib/database-away.ts';
import { UserError } from '../../../src/lib/user-error.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { databaseOfTest } from '../../support/lifetimes.ts';
import { until } from '../../support/until.ts';

const pools: Pool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.end({ timeout: 0 });
});

function poolAt(url: string, options: Partial<PoolOptions> = {}): Pool {
  const pool = createPool(url, 2, options);
  pools.push(pool);
  return pool;
}

/** A database with this setting. */
async function databaseWith(setting: string): Promise<string> {
  const { url, sql, drop } = await createTestDatabase();
  const database = new URL(url).pathname.slice(1);
  // Another test can have it then: to make one takes half a second of processor time.
  onTestFinished(async () => {
    await sql.unsafe(`alter database ${database} reset all`);
    await drop();
  });
  await sql.unsafe(`alter database ${database} set ${setting}`);
  return url;
}

test.each([
  'DateStyle = German',
  'bytea_output = escape',
  'TimeZone = "Asia/Tokyo"',
  'IntervalStyle = sql_standard',
])('times and bytes are read as written with %s', async (setting) => {
  const url = await databaseWith(setting);
  const at = new Date('2026-02-03T04:05:06.789Z');
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
  const [row] = await poolAt(url)`select ${at}::timestamptz as at, ${bytes}::bytea as bytes`;
  expect(row).toEqual({ at, bytes });
});

test('no migration contains a backslash, so that standard_conforming_strings does not matter', async () => {
  const files = await readMigrations(new URL('../../../src/db/migrations/', import.meta.url));
  expect(files.length).toBeGreaterThan(0);
  for (const { text } of files) expect(text).not.toContain('\\');
});

test('a time in a style other than ISO is an error, never another day', async () => {
  const sql = poolAt(await databaseWith('DateStyle = ISO'));
  const read = sql.begin(async (tx) => {
    await tx`set local DateStyle = 'SQL, DMY'`;
    return await tx`select '2026-02-03T04:05:06Z'::timestamptz as at`;
  });
  await expect(read).rejects.toThrow('not in ISO 8601');
});

test("transactions are read committed, whatever the database's default", async () => {
  const sql = poolAt(await databaseWith('default_transaction_isolation = serializable'));
  const [row] = await sql`select current_setting('transaction_isolation') as isolation`;
  expect(row).toEqual({ isolation: 'read committed' });
});

test('a connection to a read-only server fails as if the database were unavailable', async () => {
  const url = await databaseWith('default_transaction_read_only = on');
  const error: unknown = await poolAt(url)`select 1`.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'DatabaseReadOnly' });
  expect(failureOf(error, 'r-1').status).toBe(503);
  await expect(databaseAnswers(poolAt(url))).resolves.toBe(false);
});

test.each([
  ['password', 'replaced', '28P01'],
  ['pathname', '/dropped', '3D000'],
] as const)(
  'a login that the server refuses (%s) fails as if the database were unavailable',
  async (part, value, code) => {
    const { url } = await databaseOfTest();
    const elsewhere = new URL(url);
    elsewhere[part] = value;
    const error: unknown = await poolAt(elsewhere.href)`select 1`.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code });
    expect(failureOf(error, 'r-1').status).toBe(503);
  },
);

test('a connection that turns out to be read-only is closed with its error', async () => {
  const { url } = await databaseOfTest();
  const sql = poolAt(url);
  const pids = async () =>
    await Promise.all(
      [1, 2].map(async () => (await sql`select pg_backend_pid() as pid, pg_sleep(0.05)`)[0]?.pid),
    );
  const before = new Set<unknown>(await pids());
  const error: unknown = await sql
    .begin('read only', async (tx) => {
      await tx`create table marks (mark text)`;
    })
    .catch((reason: unknown) => reason);
  expect(failureOf(error, 'r-1').status).toBe(503);
  // Statements already on their way there fail once more.
  await until('other connections', async () => {
    const now = await pids().catch(() => [...before]);
    return now.every((pid) => !before.has(pid));
  });
});

test('a pool behind a transaction pooler sends no statement before the previous response', async () => {
  const { url } = await databaseOfTest();
  const sql = poolAt(url, { session: false });
  const rows = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      sql.begin(async (tx) => {
        const both = await Promise.all([tx`select ${n}::int as n`, tx`select txid_current()::text as tx`]);
        return [...both, await tx`select txid_current()::text as tx`];
      }),
    ),
  );
  expect(rows.map(([first]) => first?.[0]?.n)).toEqual(rows.map((_, n) => n));
  for (const [, second, third] of rows) expect(second).toEqual(third);
});

test('a server that Waybill cannot work with is reported in one sentence', async () => {
  const readOnly = await databaseWith('default_transaction_read_only = on');
  expect(await inspectServer(readOnly).catch(databaseProblem)).toEqual(
    new UserError('The database is read-only: it may be a standby.'),
  );
  const { url, sql } = await databaseOfTest();
  expect(await inspectServer(url)).toEqual({ pooled: false });
  await sql`create database latin1 encoding 'LATIN1' locale 'C' template template0`;
  const latin1 = new URL(url);
  latin1.pathname = '/latin1';
  await expect(inspectServer(latin1.href)).rejects.toThrow(
    'The database at DATABASE_URL has the encoding LATIN1; create one with UTF8.',
  );
  await sql`drop database latin1`;
  await expect(inspectServer(await databaseWith('search_path = nowhere'))).rejects.toThrow(
    'The database at DATABASE_URL has no schema for tables: its search_path is nowhere, and the role may use none of these.',
  );
});

test('sessions must lead to the same database as the pool', async () => {
  const { url } = await databaseOfTest();
  const sql = poolAt(url, { session: false });
  const sessions = await createSessionPool(sql, url);
  pools.push(sessions);
  // Longer statements go through the pool, in time for an attempt that has begun.
  expect(await sessions`show statement_timeout`).toEqual([{ statementTimeout: '2s' }]);
  const other = await databaseOfTest();
  await expect(createSessionPool(sql, other.url)).rejects.toThrow('has to lead to the same database');
});
