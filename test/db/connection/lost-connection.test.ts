/**
 * Postgres ends connections: the work under way fails, none of it runs elsewhere, and the pool works as before. A
 * statement that the client library wrote to a lost connection would end this process.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createPool, type Pool, type Sql } from '../../../src/db/connection/pool.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';
import { until } from '../../support/until.ts';

const pools: Pool[] = [];

const database = await databaseOfFile();
await database.sql`create table marks (mark text)`;
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.end({ timeout: 0 });
});

/** A pool of one connection: a new one takes its place. */
function single(): Pool {
  const pool = createPool(database.url, 1);
  pools.push(pool);
  return pool;
}

const pidOf = async (sql: Sql) => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid ?? 0;
const marks = async () => (await database.sql`select mark from marks`).length;

/** Ends a connection as `pg_terminate_backend`, a restart or a failover does, and waits for its process to end. */
async function end(pid: number): Promise<void> {
  await database.sql`select pg_terminate_backend(${pid})`;
  await until('the connection is gone', async () => {
    const left = await database.sql`select 1 from pg_stat_activity where pid = ${pid}`;
    return left.length === 0;
  });
  // Until this process knows it.
  await sleep(50);
}

/** Runs a transaction; resolves once it has failed *and* its function has ended. */
async function failure(sql: Pool, work: (tx: Sql) => Promise<unknown>): Promise<unknown> {
  let rest: Promise<unknown> = Promise.resolve();
  const failed = await sql
    .begin((tx) => {
      rest = work(tx);
      return rest;
    })
    .then(
      () => 'committed',
      (error: unknown) => error,
    );
  await rest.catch(() => {});
  return failed;
}

const LOST = { code: expect.stringMatching(/^(CONNECTION_CLOSED|57P01)$/) };

test('a statement in a transaction fails if its connection was ended', async () => {
  const sql = single();
  const failed = await failure(sql, async (tx) => {
    await end(await pidOf(tx));
    await tx`insert into marks values ('too late')`;
  });
  expect(failed).toMatchObject(LOST);
  expect(await pidOf(sql)).toBeGreaterThan(0);
  expect(await marks()).toBe(0);
});

test('a transaction fails if its connection is ended between its last statement and the commit', async () => {
  const sql = single();
  const failed = await failure(sql, async (tx) => {
    await tx`insert into marks values ('not committed')`;
    await end(await pidOf(tx));
  });
  expect(failed).toMatchObject(LOST);
  expect(await pidOf(sql)).toBeGreaterThan(0);
  expect(await marks()).toBe(0);
});

test('a statement of a lost transaction never reaches the replacement connection', async () => {
  const sql = single();
  const failed = await failure(sql, async (tx) => {
    await end(await pidOf(tx));
    // The next connection is in use for something else.
    expect(await pidOf(sql)).toBeGreaterThan(0);
    await tx`insert into marks values ('outside')`;
  });
  expect(failed).toMatchObject(LOST);
  expect(await marks()).toBe(0);
});

test('a statement on a closing connection fails, and is not answered by the next connection', async () => {
  const pool = single();
  const wrote = failure(pool, (tx) =>
    tx`set transaction read only`.then(() => tx`insert into marks values ('no')`),
  );
  expect(await wrote).toMatchObject({ code: '25006' });
  // The connection is destroyed in this turn of the event loop, and reports it at the end of the turn.
  await new Promise(setImmediate);
  const outcome = pool<{ one: number }[]>`select 1 as one`.then(
    ([row]) => row?.one,
    (error: { readonly code: string }) => error.code,
  );
  expect(await Promise.race([outcome, sleep(5_000)])).toBe('CONNECTION_CLOSED');
  expect(await pidOf(pool)).toBeGreaterThan(0);
});

test("a connection ended while it reads the database's types fails only its own statement", async () => {
  const holder = createPool(database.url, 1);
  pools.push(holder);
  // After a vacuum of a catalog the next connection reads all catalogs before its first query: this one does.
  await holder`select 1`;
  const sql = single();
  let asked: Promise<unknown> = Promise.resolve();
  await holder.begin(async (tx) => {
    await tx`lock table pg_catalog.pg_type in access exclusive mode`;
    asked = pidOf(sql).catch(() => 'lost');
    await until('the types are asked for', async () => {
      await tx`select pg_stat_clear_snapshot()`;
      const ended = await tx`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and query like '%typarray%'
          and wait_event_type = 'Lock'`;
      return ended.length > 0;
    });
  });
  await asked;
  expect(await pidOf(sql)).toBeGreaterThan(0);
});

test('after an outage the pool reconnects within a second, however many connections have failed', async () => {
  const { backoff } = single().options;
  const waits = Array.from({ length: 1_000 }, (_, failures) =>
    typeof backoff === 'function' ? backoff(failures) : Number.NaN,
  );
  expect(Math.max(...waits)).toBeLessThanOrEqual(1);
  expect(waits[0]).toBe(0);
});
