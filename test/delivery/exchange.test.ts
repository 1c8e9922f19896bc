/** A single request. */
import { Agent, buildConnector } from 'undici';
import { expect, test } from 'vitest';
import { exchange } from '../../src/delivery/exchange.ts';
import { buildRequest } from '../../src/delivery/request.ts';
import { freePort } from '../support/ports.ts';
import { createReceiver } from '../support/receiver.ts';
import { standStill } from '../support/stand-still.ts';
import { attempt } from './support.ts';

test('whose failure it was cannot be found out: it has failed', async () => {
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

test('its time was over before it could be sent, and this process had not noticed: that is no failure of the receiver', async () => {
  const receiver = await createReceiver();
  const connect = buildConnector({});
  const agent = new Agent({
    connect(options, connected) {
      connect(options, (...came) => {
        standStill(700);
        connected(...came);
      });
    },
  });
  const request = attempt(receiver.url);
  const settings = {
    connectionsTo: () => agent,
    timeoutMs: 500,
    connectTimeoutMs: 5_000,
    build: () => buildRequest(request, '1.2.3'),
    isInternal: async () => false,
  };
  try {
    expect(await exchange(settings, request, undefined)).toMatchObject({
      outcome: 'internal',
      error: expect.stringContaining('this process was stalled for'),
    });
    expect(receiver.requests).toEqual([]);
  } finally {
    await agent.destroy();
    await receiver.close();
  }
});
