/**
 * Answers that no client reads, over real connections: they count towards limits, and they end.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { afterEach, describe, expect, test } from 'vitest';
import { createBudget } from '../../src/api/budget/budget.ts';
import type { ApiEnv } from '../../src/api/deps.ts';
import { errorBody } from '../../src/api/errors.ts';
import { Problem } from '../../src/domain/problem.ts';
import { type HttpServer, listen } from '../../src/http/http-server.ts';
import { MAX_IN_PROGRESS, MAX_QUEUED_REQUESTS } from '../../src/http/pipelines.ts';
import { until } from '../support/until.ts';

/** More than the system buffers for a client that reads nothing, in bytes. */
const LARGE = 64 * 1024 * 1024;
const ANSWER = Buffer.alloc(LARGE, 'x');

let server: HttpServer | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
  server = undefined;
});

interface Started {
  readonly url: string;
  /** How many handlers have ended. */
  handled(): number;
}

/** `/large` answers more than a connection buffers; `/slow` and `/parts` take several times `unreadMs`. */
async function start(requests: number, unreadMs = 60_000, bytesPerSecond = 100 * LARGE): Promise<Started> {
  let handled = 0;
  const app = new Hono<ApiEnv>();
  const { admit, inTurn } = createBudget({ requests, connections: 4, allConnections: 4, bytesPerSecond });
  app.onError((error, c) =>
    c.json(errorBody(500, error.message), error instanceof Problem ? error.status : 500),
  );
  app.use(async (c, next) => {
    const eshopId = Number(c.req.header('x-eshop') ?? 1);
    c.set('session', { eshopId, userId: 1, username: 'shop', role: 'shop' });
    await next();
  });
  app.use(admit);
  const pause = () => new Promise((resolve) => setTimeout(resolve, 5 * unreadMs));
  app.get('/small', (c) => c.text('small'));
  app.get('/large', (c) => {
    handled += 1;
    return c.body(ANSWER);
  });
  app.get('/turns', inTurn, async (c) => {
    await sleep(5);
    handled += 1;
    return c.body(ANSWER);
  });
  app.get('/paced', async (c) => {
    const { allowance } = c.var;
    const waiting = { writableLength: 3 * LARGE };
    allowance?.hold(waiting);
    setTimeout(() => {
      waiting.writableLength = 0;
    }, 300);
    const before = performance.now();
    await allowance?.paced();
    return c.text(String(performance.now() - before));
  });
  app.get('/slow', async (c) => {
    await pause();
    return c.text('at last');
  });
  app.get('/parts', (c) => {
    const parts = async function* () {
      yield Buffer.from('first, ');
      await pause();
      yield Buffer.from('second');
    };
    return c.body(ReadableStream.from(parts()));
  });
  server = await listen(app, '127.0.0.1', 0, { unreadMs });
  return { url: server.url, handled: () => handled };
}

/** Sends pipelined requests, and reads nothing. */
function unread(url: string, count: number, path = '/large'): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count));
  sockets.push(socket);
  return socket;
}

const statusOf = async (url: string, eshopId = 1) => {
  const answer = await fetch(`${url}/small`, { headers: { 'x-eshop': String(eshopId) } });
  await answer.text();
  return answer.status;
};

test.each([1, 2, 20])(
  '%i unread responses on one connection count as under way until it is closed',
  async (count) => {
    const { url, handled } = await start(count);
    const socket = unread(url, count);
    await until('the handlers', async () => handled() === count);
    expect(await statusOf(url)).toBe(429);
    socket.destroy();
    await until('room', async () => (await statusOf(url)) === 200);
    // There is as much room as before.
    unread(url, count);
    await until('the handlers', async () => handled() === 2 * count);
    expect(await statusOf(url)).toBe(429);
  },
);

test('a response that was read no longer counts, even if its connection stays', async () => {
  const { url } = await start(1);
  for (let i = 0; i < 20; i++) expect(await statusOf(url)).toBe(200);
});

test('a response that nobody reads is given up, and no longer counts', async () => {
  const { url, handled } = await start(1, 200);
  const socket = unread(url, 1);
  await until('the handler', async () => handled() === 1);
  await until('room', async () => (await statusOf(url)) === 200);
  let received = 0;
  socket.on('data', (chunk) => {
    received += chunk.length;
  });
  await once(socket, 'close');
  expect(received).toBeLessThan(LARGE);
});

test.each([
  ['slow', 'at last'],
  ['parts', 'first, second'],
])('a slow response is not given up: /%s', async (path, expected) => {
  const { url } = await start(1, 50);
  expect(await (await fetch(`${url}/${path}`)).text()).toBe(expected);
});

describe('pipelined requests', () => {
  test('a limited number is begun before the first response is read, and all are answered', async () => {
    const { url, handled } = await start(1_000);
    const socket = unread(url, 300);
    await until('as many as may be in progress', async () => handled() >= MAX_IN_PROGRESS);
    await sleep(200);
    expect(handled()).toBe(MAX_IN_PROGRESS);
    socket.destroy();

    const reader = unread(url, 300, '/small');
    let answers = 0;
    reader.on('data', (chunk: Buffer) => {
      answers += chunk.toString().split('HTTP/1.1 200').length - 1;
    });
    await until('all answers', async () => answers === 300);
  });

  test('too many of them end their connection', async () => {
    const { url } = await start(10_000);
    const socket = unread(url, MAX_IN_PROGRESS + MAX_QUEUED_REQUESTS + 1);
    socket.resume();
    await once(socket, 'close');
  });
});

describe('unread bytes of an e-shop', () => {
  test('further requests of that e-shop are refused, and nobody else’s', async () => {
    const { url, handled } = await start(200, 60_000, LARGE);
    const socket = unread(url, 3);
    await until('the handlers', async () => handled() === 3);
    const refused = await fetch(`${url}/small`);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      message: 'The e-shop has more than 128 MiB of responses that it has not read.',
    });
    expect(await statusOf(url, 2)).toBe(200);
    socket.destroy();
    await until('room', async () => (await statusOf(url)) === 200);
  });

  test('the limit also holds for requests that came before the first response', async () => {
    const { url, handled } = await start(200, 60_000, LARGE);
    for (let i = 0; i < 40; i += 1) unread(url, 1, '/turns');
    await until('room', async () => (await statusOf(url)) === 429);
    await sleep(300);
    // Two fit, and each of the four turns may have taken one before those answers were there.
    expect(handled()).toBeLessThanOrEqual(2 + 2 * 4);
  });

  test('imports pause until the responses are read', async () => {
    const { url } = await start(200, 60_000, LARGE);
    expect(Number(await (await fetch(`${url}/paced`)).text())).toBeGreaterThanOrEqual(290);
  });
});
