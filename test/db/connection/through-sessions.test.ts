/** Statements that bypass the pooler: what makes them go through it again. */
import { expect, onTestFinished, test } from 'vitest';
import { createPool, type Sql } from '../../../src/db/connection/pool.ts';
import { throughSessions } from '../../../src/db/connection/through-sessions.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const database = await databaseOfFile();
const NOWHERE = 'postgres://waybill@127.0.0.1:1/waybill';

function poolTo(url: string, statementMs: number | null = 10_000) {
  const pool = createPool(url, 1, { statementMs });
  onTestFinished(() => pool.end());
  return pool;
}

/** Executes statements, on a clock of its own, and notes by which way each went. */
function executing(sessions: Sql | null, pool: Sql = database.sql) {
  const clock = { ms: 0 };
  const ways: string[] = [];
  const execute = throughSessions(pool, sessions, () => clock.ms);
  return {
    clock,
    ways,
    run: (text: string) =>
      execute(async (by) => {
        ways.push(by === sessions ? 'session' : 'pool');
        return await by.unsafe(text);
      }),
  };
}

test.each([
  ['bad data', 'select 1 / 0', '22012'],
  ['a constraint', 'insert into settings (name, value) values (null, null)', '23502'],
  ['a time-out', 'select pg_sleep(10)', '57014'],
])(
  'a statement refused because of %s runs once, and the next one uses a session again',
  async (_, text, code) => {
    const { run, ways } = executing(poolTo(database.url, 100));
    await expect(run(text)).rejects.toMatchObject({ code });
    await run('select 1');
    expect(ways).toEqual(['session', 'session']);
  },
);

test.each([
  ['nobody answers at the address', NOWHERE],
  ['the server refuses the session', Object.assign(new URL(database.url), { pathname: '/absent' }).href],
])('if %s, statements use the pool for half a minute', async (_, url) => {
  const { run, ways, clock } = executing(poolTo(url));
  await run('select 1');
  clock.ms += 29_999;
  await run('select 1');
  clock.ms += 1;
  await run('select 1');
  expect(ways).toEqual(['session', 'pool', 'pool', 'session', 'pool']);
});

test('with sessions, statements do not need the pool', async () => {
  const { run, ways } = executing(poolTo(database.url), poolTo(NOWHERE));
  await run('select 1');
  expect(ways).toEqual(['session']);
});

test('after half a minute, one of several simultaneous statements tries the sessions again', async () => {
  const { run, ways, clock } = executing(poolTo(NOWHERE));
  await run('select 1');
  clock.ms += 30_000;
  ways.length = 0;
  await Promise.all([run('select 1'), run('select 1'), run('select 1')]);
  expect(ways.toSorted()).toEqual(['pool', 'pool', 'pool', 'session']);
});

test('without sessions, a statement uses the pool once and fails with its error', async () => {
  const { run, ways } = executing(null);
  await run('select 1');
  expect(ways).toEqual(['pool']);
  const nowhere = poolTo(NOWHERE);
  const failing = executing(nowhere, nowhere);
  await expect(failing.run('select 1')).rejects.toThrow();
  expect(failing.ways).toHaveLength(1);
});

test('statements use the pool if sessions lead to a read-only server', async () => {
  const sessions = poolTo(database.url);
  await sessions`set default_transaction_read_only = on`;
  const { run, ways } = executing(sessions);
  await run("insert into settings (name, value) values ('written', '1')");
  expect(ways).toEqual(['session', 'pool']);
});
