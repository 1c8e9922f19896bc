/** Connections between two requests: kept long enough for a proxy, few enough, and no reason to stop late. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type HttpServer, type HttpServerOptions, listen } from '../../src/http/http-server.ts';
import { until } from '../support/until.ts';

let server: HttpServer | undefined;
const sockets: Socket[] = [];
/** Ends all requests to `/slow`. */
let answerSlow: () => void = () => {};
let slow = 0;

afterEach(async () => {
  answerSlow();
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
  server = undefined;
});

async function start(options: HttpServerOptions = {}): Promise<HttpServer> {
  slow = 0;
  const released = new Promise<void>((resolve) => {
    answerSlow = resolve;
  });
  server = await listen(
    {
      async fetch({ url }) {
        if (url.endsWith('/slow')) {
          slow += 1;
          await released;
        }
        if (!url.endsWith('/long')) return new Response('answered');
        // Its head is sent before its end.
        slow += 1;
        const { readable, writable } = new TransformStream<Uint8Array>();
        const writer = writable.getWriter();
        void released.then(() => writer.write(Buffer.from('answered'))).then(() => writer.close());
        void writer.write(Buffer.from('begun '));
        return new Response(readable);
      },
    },
    '127.0.0.1',
    0,
    options,
  );
  return server;
}

async function client({ url }: HttpServer) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  sockets.push(socket);
  let text = '';
  let ended = false;
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  socket.on('error', () => {});
  socket.once('close', () => {
    ended = true;
  });
  await once(socket, 'connect');
  const answers = () => text.split('answered').length - 1;
  return {
    text: () => text,
    ended: () => ended,
    answers,
    send: (path: string) => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`),
    async ask() {
      const before = answers();
      this.send('/');
      await until('an answer or the end', async () => answers() > before || ended);
      return !ended;
    },
  };
}

test('an idle connection is kept as long as announced, and no longer', async () => {
  const kept = await client(await start());
  await kept.ask();
  expect(kept.text()).toMatch(/keep-alive: timeout=75/i);

  await server?.close();
  const short = await client(await start({ keepAliveMs: 500 }));
  await short.ask();
  await until('the end', async () => short.ended());
});

test('at the limit of connections, the longest idle one is closed for a new one', async () => {
  const running = await start({ maxConnections: 3 });
  const [first, second, third] = [await client(running), await client(running), await client(running)];
  for (const each of [first, second, third, first]) expect(await each.ask()).toBe(true);

  const fourth = await client(running);

  expect(await fourth.ask()).toBe(true);
  await until('the end of the second', async () => second.ended());
  expect(await first.ask()).toBe(true);
  expect(await third.ask()).toBe(true);
});

test('at the limit of connections, a new one is closed if all are busy; afterwards there is room', async () => {
  const running = await start({ maxConnections: 3 });
  const busy = [await client(running), await client(running), await client(running)];
  for (const each of busy) each.send('/slow');
  await until('three requests', async () => slow === 3);

  expect(await (await client(running)).ask()).toBe(false);

  sockets[0]?.destroy();
  await until('room', async () => (await client(running)).ask());
  answerSlow();
  await until('their answers', async () => busy.slice(1).every(({ answers }) => answers() === 1));
});

test.each([
  ['/slow', /connection: close/i],
  ['/long', /begun/],
])('a stop closes idle connections at once, and those of %s after their response', async (path, head) => {
  const running = await start();
  const [idle, busy] = [await client(running), await client(running)];
  await idle.ask();
  busy.send(path);
  await until('the request', async () => slow === 1);

  const stopped = running.close().then(() => 'stopped');
  await until('the end of the idle one', async () => idle.ended());
  expect(busy.ended()).toBe(false);
  const began = performance.now();
  answerSlow();

  await stopped;
  await until('the answer', async () => busy.ended());
  expect(busy.answers()).toBe(1);
  expect(busy.text()).toMatch(head);
  // Long before it would have been cut off, after ten seconds.
  expect(performance.now() - began).toBeLessThan(5_000);
});
