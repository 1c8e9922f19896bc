/** Receivers in steady use that move: no connection is used for longer than a given age, whatever happens on it. */
import { createServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { AttemptResult, Sender } from '../../src/delivery/sender.ts';
import { receiverOfTest } from '../support/lifetimes.ts';
import { listenLocally } from '../support/servers/ports.ts';
import { until } from '../support/until.ts';
import { attempt, pem, startNames, startSender } from './support.ts';

/** Requests follow each other sooner, also on a busy machine. */
const AGE_MS = 1_000;
const steady = { maxConnectionAgeMs: AGE_MS };

/** Much less than the time for which idle connections are kept. */
const PAUSE_MS = 20;

/** Sends request after request, until a result or something else is as wanted. @returns all results */
async function send(
  sender: Sender,
  url: string,
  enough: (last: AttemptResult) => boolean,
): Promise<AttemptResult[]> {
  const results: AttemptResult[] = [];
  await until('the change', async () => {
    // The result is there before the connection is free.
    await sleep(PAUSE_MS);
    const last = await sender.send(attempt(url));
    results.push(last);
    return enough(last);
  });
  return results;
}

test('a name that moves is followed without a failed request', async () => {
  const before = await receiverOfTest({}, { host: '127.0.0.2' });
  const after = await receiverOfTest({}, { host: '127.0.0.3', port: before.port });
  const dns = await startNames({ 'shop.example': ['127.0.0.2'] });
  const sender = startSender({ ...steady, dnsServers: [dns.address] });
  const url = `http://shop.example:${before.port}`;
  const first = await send(sender, url, () => before.requests.length > 5);
  expect(before.connections).toBeLessThanOrEqual(first.length - 1);

  // Of requests under way the connection stays.
  before.respond({ delayMs: 2 * AGE_MS });
  const underWay = sender.send(attempt(url));
  await before.waitFor(7);
  before.respond({});
  dns.set('shop.example', ['127.0.0.3']);
  const rest = await send(sender, url, () => after.requests.length > 0);

  const all = [...first, await underWay, ...rest];
  expect(new Set(all.map(({ outcome }) => outcome))).toEqual(new Set(['success']));
  expect(before.requests.length + after.requests.length).toBe(all.length);
});

test('a name that moves to a private address is refused', async () => {
  const receiver = await receiverOfTest({}, { host: '127.0.0.2' });
  const dns = await startNames({ 'shop.example': ['127.0.0.2'] });
  const sender = startSender({ ...steady, dnsServers: [dns.address] });
  const url = `http://shop.example:${receiver.port}`;
  await send(sender, url, () => receiver.requests.length > 5);

  dns.set('shop.example', ['10.0.0.5']);

  const results = await send(sender, url, ({ outcome }) => outcome === 'failure');
  expect(results.at(-1)?.error).toBe(`the address of shop.example:${receiver.port} is not allowed`);
});

test('a certificate that is replaced by a wrong one is noticed, though sessions could be resumed', async () => {
  const ticketKeys = Buffer.alloc(48, 7);
  const context = async (name: string) => ({
    key: await pem('server.key'),
    cert: await pem(name),
    ticketKeys,
  });
  const server = createServer(await context('valid.pem'), (incoming, response) => {
    incoming.resume().on('end', () => response.end());
  });
  const port = await listenLocally(server);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const sender = startSender({ ...steady, ca: await pem('ca.pem') });
  const url = `https://localhost:${port}`;
  expect((await sender.send(attempt(url))).outcome).toBe('success');

  server.setSecureContext(await context('other-name.pem'));

  const results = await send(sender, url, ({ outcome }) => outcome === 'failure');
  expect(results.at(-1)?.error).toBe(`TLS certificate of localhost:${port} does not match its host name`);
});
