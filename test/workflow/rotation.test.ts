/** The signatures that a receiver sees while a secret is being replaced (docs/interface.md, W5). */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, test } from 'vitest';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import type { ReceivedRequest } from '../support/servers/receiver.ts';

const stack = await stackOfFile('rotation');
const receiver = await receiverOfFile();
afterEach(() => stack.retireWebhooks());

/** The secrets that made each `v1=` of the request, in order; '?' for an unknown one. */
function signers(request: ReceivedRequest, secrets: Record<string, string>): string[] {
  const header = String(request.headers['x-service-signature']);
  const time = /^t=(\d+),/.exec(header)?.[1];
  const made = (secret: string) =>
    createHmac('sha256', secret).update(`${time}.`).update(request.body).digest('hex');
  return [...header.matchAll(/,v1=([0-9a-f]{64})(?=,|$)/g)].map(
    ([, value]) => Object.entries(secrets).find(([, secret]) => made(secret) === value)?.[0] ?? '?',
  );
}

/** Whether the published library of Standard Webhooks accepts the request with this secret. */
function verifies(request: ReceivedRequest, secret: string): boolean {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  try {
    new Webhook(secret).verify(request.text, Object.fromEntries(headers));
    return true;
  } catch {
    return false;
  }
}

/** The request for a new order. */
async function delivered(entityId: string): Promise<ReceivedRequest> {
  const id = await stack.fireOne(entityId);
  await stack.untilClosed(id);
  const [request] = await receiver.waitFor(({ headers }) => headers['x-service-delivery'] === id);
  if (request === undefined) throw new Error('nothing arrived');
  return request;
}

test('for 24 hours both secrets sign, the newest first; then only the new one', async () => {
  const { id, secret: old } = await stack.createWebhook(receiver.url);
  const secrets = { old, new: await stack.replaceSecret(id) };

  const during = await delivered('10060');
  expect(signers(during, secrets)).toEqual(['new', 'old']);
  expect([verifies(during, secrets.new), verifies(during, secrets.old)]).toEqual([true, true]);

  // A minute before the end of the overlap, and a minute after it.
  const later = (interval: string) =>
    stack.sql`update webhooks set previous_secret_until = previous_secret_until - ${interval}::interval where id = ${id}`;
  await later('23 hours 59 minutes');
  expect(signers(await delivered('10061'), secrets)).toEqual(['new', 'old']);
  await later('2 minutes');
  const after = await delivered('10062');
  expect(signers(after, secrets)).toEqual(['new']);
  expect([verifies(after, secrets.new), verifies(after, secrets.old)]).toEqual([true, false]);
});

test('a second rotation ends the oldest secret; one without overlap ends the previous one at once', async () => {
  const { id, secret: first } = await stack.createWebhook(receiver.url);
  const second = await stack.replaceSecret(id);
  const third = await stack.replaceSecret(id);
  const secrets = { first, second, third };
  expect(signers(await delivered('10063'), secrets)).toEqual(['third', 'second']);
  const fourth = await stack.replaceSecret(id, false);
  expect(signers(await delivered('10064'), { ...secrets, fourth })).toEqual(['fourth']);
});
