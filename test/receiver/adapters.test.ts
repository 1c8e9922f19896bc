import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { afterEach, describe, expect, it } from 'vitest';
import { memoryStore, receiver } from '../../receiver/src/index.ts';
import { nodeListener } from '../../receiver/src/node.ts';
import { fakeDelivery, testSecret } from '../../receiver/src/testing.ts';
import { buildRequest } from '../../src/delivery/request.ts';
import { later } from '../support/later.ts';
import { listenLocally } from '../support/servers/ports.ts';
import { wireEvent } from '../support/wire-event.ts';

const body = '{"eshopOrderId":"10/1 ž"}';
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

function setUp() {
  const seen: string[] = [];
  const problems: unknown[] = [];
  const hooks = receiver({
    secrets: testSecret,
    store: memoryStore(),
    read: async ({ entityId }) => ({ eshopOrderId: entityId }),
    onProblem: (problem) => problems.push(problem),
  }).on('CREATE_ORDER', (order, { method }) => void seen.push(`${method} ${order.eshopOrderId}`));
  return { hooks, seen, problems };
}

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  closing.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${await listenLocally(server)}`;
}

/** Sends a request built by the sender. */
async function deliver(base: string, method: 'POST' | 'GET', path = '/hooks/') {
  const attempt = {
    ...wireEvent,
    eshopId: 1,
    url: `${base}${path}`,
    method,
    secrets: [testSecret],
    number: 1,
    at: new Date(),
  };
  const event = { eventType: 'CREATE_ORDER', entityId: '10/1 ž', body: method === 'POST' ? body : null };
  const wire = buildRequest({ ...attempt, ...event, deliveryId: crypto.randomUUID() }, '0');
  const response = await fetch(`${wire.origin}${wire.path}`, {
    method,
    headers: wire.headers,
    ...(wire.body === null ? {} : { body: wire.body }),
  });
  return [response.status, await response.text()] as const;
}

describe('node:http', () => {
  it('deliveries by POST and GET are handled', async () => {
    const { hooks, seen } = setUp();
    const url = await listening((incoming, outgoing) => void nodeListener(hooks)(incoming, outgoing));
    expect(await deliver(url, 'POST')).toEqual([200, 'Handled.\n']);
    expect(await deliver(url, 'GET')).toEqual([200, 'Handled.\n']);
    expect(await deliver(url, 'GET', '//odd/../a//?q=a+b&order=')).toEqual([200, 'Handled.\n']);
    expect(seen).toEqual(['POST 10/1 ž', 'GET 10/1 ž', 'GET 10/1 ž']);
  });

  it('a body parser that came first is named', async () => {
    const { hooks } = setUp();
    const url = await listening(async (incoming, outgoing) => {
      for await (const _ of incoming);
      await nodeListener(hooks)(incoming, outgoing);
    });
    expect(await deliver(url, 'POST')).toEqual([500, expect.stringContaining('express.json()')]);
  });

  it('the bytes that a platform has kept are used', async () => {
    const { hooks } = setUp();
    const url = await listening(async (incoming, outgoing) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const kept: IncomingMessage = Object.assign(incoming, { rawBody: Buffer.concat(chunks) });
      await nodeListener(hooks)(kept, outgoing);
    });
    expect(await deliver(url, 'POST')).toEqual([200, 'Handled.\n']);
  });

  it('the original path is used, even if a router shortened it', async () => {
    const { hooks } = setUp();
    const url = await listening(async (incoming, outgoing) => {
      const routed = Object.assign(incoming, {
        originalUrl: incoming.url,
        url: incoming.url?.replace('/hooks', ''),
      });
      await nodeListener(hooks)(routed, outgoing);
    });
    expect(await deliver(url, 'GET')).toEqual([200, 'Handled.\n']);
  });

  it('a body that breaks off is not a delivery', async () => {
    const { hooks, problems } = setUp();
    const [answered, ended] = later();
    const url = await listening((incoming, outgoing) => {
      void nodeListener(hooks)(incoming, outgoing).then(ended);
      incoming.once('data', () => incoming.destroy());
    });
    await expect(deliver(url, 'POST')).rejects.toThrow();
    await answered;
    expect(problems).toHaveLength(1);
  });
});

describe('Hono', () => {
  const listeningApp = async (app: Hono) => {
    let address = '';
    await new Promise<void>((resolve) => {
      const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, (info) => {
        address = `http://127.0.0.1:${info.port}`;
        resolve();
      });
      closing.push(() => void server.close());
    });
    return address;
  };

  it('deliveries by POST and GET are handled', async () => {
    const { hooks, seen } = setUp();
    const app = new Hono().all('/hooks/*', (c) => hooks(c.req.raw));
    const url = await listeningApp(app);
    expect(await deliver(url, 'POST')).toEqual([200, 'Handled.\n']);
    expect(await deliver(url, 'GET')).toEqual([200, 'Handled.\n']);
    expect(seen).toEqual(['POST 10/1 ž', 'GET 10/1 ž']);
  });

  it('a body that was read first is named', async () => {
    const { hooks } = setUp();
    const app = new Hono().post('/hooks/*', async (c) => {
      await c.req.json();
      return hooks(c.req.raw);
    });
    expect(await deliver(await listeningApp(app), 'POST')).toEqual([
      500,
      expect.stringContaining('request.json()'),
    ]);
  });
});

it('hooks.fetch ignores other arguments of the runtime', async () => {
  const { hooks, seen } = setUp();
  const worker: { fetch(request: Request, env: object): Promise<Response> } = { fetch: hooks.fetch };
  const response = await worker.fetch(await fakeDelivery('CREATE_ORDER'), { requestTarget: '/elsewhere' });
  expect(response.status).toBe(200);
  expect(seen).toHaveLength(1);
});
