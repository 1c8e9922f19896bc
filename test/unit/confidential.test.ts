/** Confidential values in a stored history are found, in any part of it. */
import { randomBytes } from 'node:crypto';
import { type History, historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, test } from 'vitest';
import { confidentialIn } from '../../src/replay/confidential.ts';
import { newApiKey, newWebhookSecret } from '../../src/secrets/keys.ts';

const known = new Map([['DATABASE_URL', 'a password of many words']]);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const input = (value: unknown): History =>
  historyFromJSON({
    events: [
      {
        eventId: '2',
        workflowExecutionStartedEventAttributes: {
          input: {
            payloads: [{ metadata: { encoding: base64('json/plain') }, data: base64(JSON.stringify(value)) }],
          },
        },
      },
    ],
  });
const failure = (message: string): History =>
  historyFromJSON({
    events: [{ eventId: '9', activityTaskFailedEventAttributes: { failure: { cause: { message } } } }],
  });
const jwt = `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.e30.c2lnbmF0dXJl`;

test.each([
  ['a URL', 'https://shop.example/hooks?token=1'],
  ['a URL', 'failed at postgres://waybill:secret@db/waybill'],
  ['an e-mail address', 'mailed to jana.nováková@shop.example'],
  ['a webhook secret', newWebhookSecret()],
  ['an API key', newApiKey()],
  ['a token', `Bearer ${jwt}`],
  ['a private key', '-----BEGIN PRIVATE KEY-----'],
  ['a key in base64', Buffer.alloc(32, 'key').toString('base64')],
  ['what looks like a key', 'AbCdEfGh12345678AbCdEfGh12345678'],
  ['the value of DATABASE_URL', 'with a password of many words.'],
])('%s is found', (what, text) => {
  expect(confidentialIn(input({ entityId: text }), known)).toEqual({ eventId: 2, what });
  expect(confidentialIn(failure(text), known)).toEqual({ eventId: 9, what });
});

test.each([
  { entityId: '2026/10001-A', deliveryId: '01990000-0000-7000-8000-000000000000', webhookId: 7 },
  { lastError: 'HTTP 503 from shop.example after 212 ms', reason: null },
  { entityId: randomBytes(20).toString('hex') },
  'at readFile (file:///app/dist/src/attempt/makeAttempt.js:12:34)',
])('identifiers are not confidential: %j', (value) => {
  expect(confidentialIn(input(value), known)).toBeUndefined();
});
