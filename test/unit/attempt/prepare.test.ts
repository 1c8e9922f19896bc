/** The request of an attempt. */
import { describe, expect, test } from 'vitest';
import { prepare } from '../../../src/attempt/prepare.ts';
import type { DeliveryForAttempt } from '../../../src/db/webhooks/attempts.ts';
import { at, waiting } from './delivery.ts';

/** A secret shows the sealed text and its owner. */
const keys = {
  decryptSecret: (sealed: Buffer, owner: { eshopId: number; webhookId: number }) =>
    `${sealed} of ${owner.eshopId}/${owner.webhookId}`,
};
const request = (delivery: Partial<DeliveryForAttempt>) => prepare(keys, { ...waiting, ...delivery }, 2);

test('a POST carries the snapshot in the version of the webhook', () => {
  expect(request({})).toEqual({
    eshopId: 3,
    webhookId: 7,
    eventId: '019aa1b2-0000-7000-8000-000000000002',
    sequence: 3,
    happenedAt: new Date('2026-11-20T11:54:00.000Z'),
    url: 'https://shop.example/hook',
    method: 'POST',
    staticHeaders: {},
    secrets: ['new of 3/7'],
    deliveryId: waiting.id,
    eventType: 'UPDATE_ORDER',
    entityId: '10001',
    number: 2,
    body: Buffer.from('{"eshopOrderId":"10001","orderProducts":[{"sku":"A","quantity":2}]}'),
  });
});

test('a GET carries none', () => {
  expect(request({ method: 'GET' })).toMatchObject({ method: 'GET', body: null });
});

describe('packing lists', () => {
  const withLists = { parameters: { withPackingLists: true } };
  test.each<[string, Partial<DeliveryForAttempt>, boolean]>([
    ['asked for', withLists, true],
    ['not asked for', { parameters: {} }, false],
    ['declined', { parameters: { withPackingLists: false } }, false],
    ['asked for by a webhook of another kind', { ...withLists, eventType: 'CREATE_ORDER' }, false],
  ])('%s', (_, delivery, expected) => {
    expect(String(request(delivery).body).includes('packingLists')).toBe(expected);
  });
});

describe('secrets', () => {
  const previousSecret = Buffer.from('old');
  test.each<[string, Partial<DeliveryForAttempt>, string[]]>([
    [
      'during an overlap both sign, the newest first',
      { previousSecret, previousSecretUntil: at(1) },
      ['new of 3/7', 'old of 3/7'],
    ],
    ['the overlap over: the new one alone', { previousSecret, previousSecretUntil: at(0) }, ['new of 3/7']],
    [
      'no end of the overlap: the new one alone',
      { previousSecret, previousSecretUntil: null },
      ['new of 3/7'],
    ],
    ['no old one', { previousSecret: null, previousSecretUntil: at(1) }, ['new of 3/7']],
  ])('%s', (_, delivery, secrets) => {
    expect(request(delivery).secrets).toEqual(secrets);
  });
});

test('a broken snapshot cannot be sent', () => {
  expect(() => request({ snapshot: '{' })).toThrow();
});
