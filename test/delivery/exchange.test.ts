/** One request by itself. */
import { Agent } from 'undici';
import { expect, test } from 'vitest';
import { exchange } from '../../src/delivery/exchange.ts';
import { freePort } from '../support/ports.ts';
import { attempt } from './support.ts';

test('whose failure it was cannot be found out: it has failed', async () => {
  const agent = new Agent();
  const settings = {
    connectionsTo: () => agent,
    timeoutMs: 30_000,
    connectTimeoutMs: 5_000,
    version: '1.2.3',
    isInternal: () => Promise.reject(new Error('nobody can tell')),
  };
  const request = attempt(`http://127.0.0.1:${await freePort()}`);
  expect(await exchange(settings, request, undefined)).toMatchObject({ outcome: 'failure', status: null });
  await agent.close();
});
