/** A database behind a link that fails: the query fails in time, and the pool continues with a new connection. */
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { test as base, expect, inject, type TestContext } from 'vitest';
import { failureOf } from '../../../src/api/errors.ts';
import { createPool, type Pool, type PoolOptions } from '../../../src/db/connection/pool.ts';
import { pem } from '../../delivery/support.ts';
import { later } from '../../support/later.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';
import { listenLocally } from '../../support/servers/ports.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { until } from '../../support/until.ts';

/** Short, but longer than any answer on this machine takes. */
const SILENCE_MS = 2_000;
const SILENT = { name: 'DatabaseSilent' };

const database = await databaseOfFile();

/** The database's address through a port. */
function through(port: number, parameters = ''): string {
  const url = new URL(database.url);
  url.port = String(port);
  url.hostname = 'localhost';
  return `${url.href}${parameters}`;
}

/** A link to the database, and pools that end with the test. */
async function startLink(onTestFinished: TestContext['onTestFinished']) {
  const proxy = await startTcpProxy({ port: Number(new URL(inject('postgresUrl')).port) });
  onTestFinished(() => proxy.close());
  return Object.assign(proxy, {
    pool(deadlines: Partial<PoolOptions> = {}, parameters = '', port = proxy.port): Pool {
      const pool = createPool(through(port, parameters), 2, { silenceMs: SILENCE_MS, ...deadlines });
      onTestFinished(() => pool.end({ timeout: 0 }));
      return pool;
    },
  });
}

/** Each test has its own link: several run at once, since most of their time is silence. */
const test = base.extend<{ proxy: Awaited<ReturnType<typeof startLink>> }>({
  proxy: async ({ onTestFinished }, use) => await use(await startLink(onTestFinished)),
});

const one = async (sql: Pool) => (await sql`select ${1}::int as one`)[0]?.one;

test.concurrent('a query on a silent connection fails, and the next one gets a new connection', async ({
  proxy,
}) => {
  const sql = proxy.pool();
  expect(await one(sql)).toBe(1);
  proxy.silence();

  const error: unknown = await one(sql).catch((reason: unknown) => reason);

  expect(error).toMatchObject(SILENT);
  // To a client of the API the database is unavailable.
  expect(failureOf(error, 'r-1').status).toBe(503);
  proxy.pass();
  expect(await one(sql)).toBe(1);
});

test.concurrent('idle connections that fell silent too fail no further query', async ({ proxy }) => {
  const sql = proxy.pool();
  // While the transaction has one connection, the query needs the other.
  await sql.begin(async (tx) => {
    await tx`select 1`;
    await one(sql);
  });
  expect(proxy.open).toBe(2);
  proxy.silence();
  proxy.pass();

  await expect(one(sql)).rejects.toMatchObject(SILENT);

  expect(await one(sql)).toBe(1);
});

test.concurrent('a query fails if its response stops halfway or its connection is never made', async ({
  proxy,
}) => {
  const sql = proxy.pool();
  await one(sql);
  proxy.silenceInAnswer(50_000);
  await expect(sql`select repeat('x', 100000)`).rejects.toMatchObject(SILENT);
  proxy.silence();
  await expect(one(sql)).rejects.toMatchObject(SILENT);

  proxy.pass();

  expect(await one(sql)).toBe(1);
});

test.concurrent('a transaction on a silent connection fails without delaying others', async ({ proxy }) => {
  const sql = proxy.pool();

  const lost = sql.begin(async (tx) => {
    await tx`select 1`;
    proxy.silence();
    await tx`select 2`;
  });

  // The library reports that the connection was closed.
  await expect(lost).rejects.toThrow('CONNECTION_CLOSED');
  proxy.pass();
  expect(await Promise.all([one(sql), one(sql), one(sql)])).toEqual([1, 1, 1]);
});

test.concurrent('every query that waits for a silent connection fails, not only the first', async ({
  proxy,
}) => {
  const sql = proxy.pool();
  await Promise.all([one(sql), one(sql)]);
  proxy.silence();

  const results = await Promise.allSettled(Array.from({ length: 20 }, () => one(sql)));

  expect(results.map(({ status }) => status)).toEqual(Array(20).fill('rejected'));
});

test.concurrent('a response that keeps arriving may take longer than the deadline', async ({ proxy }) => {
  const sql = proxy.pool();

  const rows = await sql`select repeat('x', 20000) as text, pg_sleep(0.5) from generate_series(1, 5)`;

  expect(rows).toHaveLength(5);
});

test.concurrent('LISTEN, idle connections and open transactions may be silent', async ({ proxy }) => {
  const sql = proxy.pool();
  const [heard, hear] = later<string>();
  await sql.listen('quiet', hear);
  await one(sql);
  const accepted = proxy.accepted;

  await sql.begin(async (tx) => {
    await tx`select 1`;
    await sleep(1.5 * SILENCE_MS);
    await tx`select 2`;
  });
  await sql.notify('quiet', 'still here');

  expect(await heard).toBe('still here');
  expect(proxy.accepted).toBe(accepted);
});

test.concurrent('the server ends the session of a vanished client, also if a proxy answers for it', async ({
  proxy,
}) => {
  const sql = proxy.pool();
  const settings = await sql`
    select setting from pg_settings
    where source = 'client' and (name like 'tcp_keepalives_%' or name = 'idle_in_transaction_session_timeout')
    order by name`;
  // In milliseconds; then three probes, one every 5 s, after 10 s of silence.
  expect(settings.map(({ setting }) => setting)).toEqual(['60000', '3', '10', '5']);
});

test.concurrent('a connection that is cut, even in the middle of a response, fails only its own query', async ({
  proxy,
}) => {
  const sql = proxy.pool();
  await one(sql);
  proxy.cutInAnswer(50_000);
  await expect(sql`select repeat('x', 100000)`).rejects.toThrow();
  expect(await one(sql)).toBe(1);

  proxy.refuse();
  await expect(one(sql)).rejects.toThrow();
  proxy.pass();
  expect(await one(sql)).toBe(1);
});

test.concurrent.for(['', '?sslmode=require'])(
  'each query to an address that accepts and closes%s fails once, with growing pauses',
  async (parameters, { proxy, onTestFinished }) => {
    const sql = createPool(through(proxy.port, parameters), 1);
    onTestFinished(() => sql.end({ timeout: 0 }));
    proxy.hangUp();
    const began = performance.now();

    const failed = await Promise.all(Array.from({ length: 10 }, () => one(sql).catch((error) => error)));

    for (const error of failed) {
      expect(error).toMatchObject({ code: 'CONNECTION_CLOSED' });
      expect(failureOf(error, 'r-1').status).toBe(503);
    }
    expect(proxy.accepted).toBe(10);
    // Of nine pauses each is at least 25 ms longer.
    expect(performance.now() - began).toBeGreaterThan(1_000);
  },
);

test.concurrent('a listener waits ever longer at an address that accepts and closes, and then hears again', async ({
  proxy,
}) => {
  const sql = proxy.pool();
  const [heard, hear] = later<string>();
  await sql.listen('away', hear);
  proxy.hangUp();
  const [before, began] = [proxy.accepted, performance.now()];
  await until('ten connections', async () => proxy.accepted >= before + 10);
  expect(performance.now() - began).toBeGreaterThan(1_000);

  proxy.pass();
  await until('the notification', async () => {
    await one(sql).catch(() => {});
    await sql.notify('away', 'back').catch(() => {});
    return Promise.race([heard, sleep(100).then(() => undefined)]);
  });
});

test.concurrent('closing a pool with silent connections ends its queries', async ({ proxy }) => {
  const sql = proxy.pool();
  await Promise.all([one(sql), one(sql)]);
  proxy.silence();
  const lost = one(sql).catch((error: unknown) => error);

  await sql.end({ timeout: 0.2 });

  expect(await lost).toBeInstanceOf(Error);
});

test.concurrent('a connection attempt that the server does not accept fails after its time-out', async ({
  proxy,
}) => {
  const sql = proxy.pool({ connectMs: 500 }, '?sslmode=require');
  proxy.silence();

  await expect(one(sql)).rejects.toThrow('The database has not accepted a connection for 0.5 s.');
});

/** Speaks TLS as Postgres does, in front of a server that does not. */
async function startTlsFront(answer: 'S' | 'N'): Promise<{ port: number; close(): void }> {
  const postgresPort = Number(new URL(inject('postgresUrl')).port);
  const tls = createTlsServer({ key: await pem('server.key'), cert: await pem('valid.pem') }, (socket) => {
    const inner = connect(postgresPort, '127.0.0.1');
    socket.on('error', () => inner.destroy());
    inner.on('error', () => socket.destroy());
    socket.pipe(inner).pipe(socket);
  });
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(answer);
      if (answer === 'S') return tls.emit('connection', socket);
      const inner = connect(postgresPort, '127.0.0.1');
      socket.pipe(inner).pipe(socket);
    });
  });
  return { port: await listenLocally(server), close: () => server.close() };
}

test.concurrent('over TLS, queries are answered and silence is noticed', async ({
  proxy,
  onTestFinished,
}) => {
  const front = await startTlsFront('S');
  const link = await startTcpProxy({ port: front.port });
  onTestFinished(() => front.close());
  onTestFinished(() => link.close());
  const sql = proxy.pool({}, '?sslmode=require', link.port);
  expect(await one(sql)).toBe(1);
  link.silence();
  await expect(one(sql)).rejects.toMatchObject(SILENT);
  link.pass();
  expect(await one(sql)).toBe(1);

  const strict = proxy.pool({}, '?sslmode=verify-full', link.port);
  await expect(one(strict)).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
});

test.concurrent('a server without TLS is used without it if the URL allows, and refused if not', async ({
  proxy,
  onTestFinished,
}) => {
  const front = await startTlsFront('N');
  onTestFinished(() => front.close());
  expect(await one(proxy.pool({}, '?sslmode=prefer', front.port))).toBe(1);
  await expect(one(proxy.pool({}, '?sslmode=require', front.port))).rejects.toThrow(
    'The database does not support TLS, which its URL requires.',
  );
});
