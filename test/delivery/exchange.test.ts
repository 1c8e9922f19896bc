/** A single request. */
import { Agent, buildConnector, errors } from 'undici';
import { expect, test } from 'vitest';
import { createConnections } from '../../src/delivery/connections.ts';
import { exchange } from '../../src/delivery/exchange.ts';
import { STALL_MS } from '../../src/delivery/fault.ts';
import { buildRequest } from '../../src/delivery/request.ts';
import { freePort } from '../support/servers/ports.ts';
import { attempt, startTcpServer } from './support.ts';

test('a failure whose cause cannot be found is one of the receiver', async () => {
  const agent = new Agent();
  const request = attempt(`http://127.0.0.1:${await freePort()}`);
  const settings = {
    connectionsTo: () => agent,
    timeoutMs: 30_000,
    connectTimeoutMs: 5_000,
    build: () => buildRequest(request, '1.2.3'),
    isInternal: () => Promise.reject(new Error('nobody can tell')),
  };
  expect(await exchange(settings, request, undefined)).toMatchObject({ outcome: 'failure', status: null });
  await agent.close();
});

test('a kept connection that the receiver closes late, accepting no other, is not taken for a stall', async () => {
  let requests = 0;
  const host = await startTcpServer((socket) => {
    socket.on('data', () => {
      requests += 1;
      if (requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      else setTimeout(() => socket.destroy(), STALL_MS + 300);
    });
  });
  const connect = buildConnector({});
  const connections = createConnections(
    () => (options, callback) => {
      if (requests === 0) return connect(options, callback);
      callback(new errors.ConnectTimeoutError(), null);
    },
    60_000,
  );
  const request = attempt(`http://${host}`);
  const send = () =>
    connections.use(1, (connectionsTo) =>
      exchange(
        {
          connectionsTo,
          timeoutMs: 30_000,
          connectTimeoutMs: 100,
          build: () => buildRequest(request, '1.2.3'),
          isInternal: async () => false,
        },
        request,
        undefined,
      ),
    );
  try {
    expect(await send()).toMatchObject({ outcome: 'success' });
    // Only now its connection is free again.
    await new Promise(setImmediate);
    expect(await send()).toMatchObject({
      outcome: 'failure',
      error: `no connection to ${host} within 100 ms`,
    });
    expect(requests).toBe(2);
  } finally {
    await connections.destroy();
  }
});
