/** The request of an attempt. */
import { describe, expect, test, vi } from 'vitest';
import { createPrepare } from '../../../src/attempt/prepare.ts';
import type { DeliveryForAttempt } from '../../../src/db/deliveries/attempts.ts';
import { sampleOrder } from '../../../src/domain/order/record.ts';
import { at, waiting } from './delivery.ts';

/** A secret shows the sealed text and its owner. */
const keys = {
  decryptSecret: (sealed: Buffer, owner: { eshopId: number; webhookId: number }) =>
    `${sealed} of ${owner.eshopId}/${owner.webhookId}`,
};
const request = (delivery: Partial<DeliveryForAttempt>) =>
  createPrepare(keys)({ ...waiting, ...delivery }, 2);

test("a POST carries the snapshot in the webhook's version", () => {
  expect(request({})).toEqual({
    eshopId: 3,
    webhookId: 7,
    eventId: '019aa1b2-0000-7000-8000-000000000002',
    sequence: 3,
    happenedAt: new Date('2026-11-20T11:54:00.000Z'),
    origin: 'shop',
    changed: 'note',
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

test('a GET has no body', () => {
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

test('a rendering is cached per form: one without personal data is separate', () => {
  const snapshot = JSON.stringify(sampleOrder);
  const make = createPrepare(keys);
  const sent = (parameters: DeliveryForAttempt['parameters']) =>
    JSON.parse(String(make({ ...waiting, snapshot, parameters }, 1).body)).recipientName;
  const names = [null, { withoutPersonalData: true }, { withoutPersonalData: false }].map(sent);
  expect(names).toEqual([sampleOrder.recipientName, null, sampleOrder.recipientName]);
});

test('an event erased after its rendering is rendered again', () => {
  const make = createPrepare(keys);
  const sent = (recipientName: string | null) =>
    JSON.parse(
      String(make({ ...waiting, snapshot: JSON.stringify({ ...sampleOrder, recipientName }) }, 1).body),
    ).recipientName;
  expect([sent('Zoe'), sent(null)]).toEqual(['Zoe', null]);
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

test('a previous secret that cannot be opened does not stop signing with its successor', () => {
  const decryptSecret = (sealed: Buffer) => {
    if (String(sealed) === 'old') throw new Error('no key opens it');
    return String(sealed);
  };
  const rotated = { ...waiting, previousSecret: Buffer.from('old'), previousSecretUntil: at(1) };
  expect(createPrepare({ decryptSecret })(rotated, 2).secrets).toEqual(['new']);
});

test('static headers are opened, and a test event is marked', () => {
  const sealing = { decryptSecret: () => '{"X-Key":"k"}' };
  expect(createPrepare(sealing)({ ...waiting, headers: Buffer.from('sealed') }, 2).staticHeaders).toEqual({
    'X-Key': 'k',
  });
  expect(request({ test: true }).test).toBe(true);
});

describe("a process's attempts", () => {
  test('open each secret once, and again after a replacement or for another webhook', () => {
    const decryptSecret = vi.fn(keys.decryptSecret);
    const prepared = createPrepare({ decryptSecret });
    const secrets = (delivery: Partial<DeliveryForAttempt>) =>
      prepared({ ...waiting, ...delivery }, 2).secrets;
    expect([secrets({}), secrets({})]).toEqual([['new of 3/7'], ['new of 3/7']]);
    expect(decryptSecret).toHaveBeenCalledTimes(1);
    expect([secrets({ webhookId: 8 }), secrets({ secret: Buffer.from('newer') })]).toEqual([
      ['new of 3/8'],
      ['newer of 3/7'],
    ]);
  });

  test('share the bodies of an event per form, up to sixteen bodies', () => {
    const prepared = createPrepare(keys);
    const body = (delivery: Partial<DeliveryForAttempt>) => prepared({ ...waiting, ...delivery }, 2).body;
    const first = body({});
    expect(first).toEqual(request({}).body);
    expect(body({ webhookId: 8 })).toBe(first);
    expect(body({ payloadVersion: 'v2' })).toEqual(request({ payloadVersion: 'v2' }).body);
    expect(body({ eventId: 'b', snapshot: '{"a":1}' })).toEqual(Buffer.from('{"a":1}'));
    expect(body({ eventId: 'c' })).not.toBe(first);
    expect(body({})).toBe(first);
    for (let event = 0; event < 16; event += 1) body({ eventId: `event ${event}` });
    expect(body({})).not.toBe(first);
  });

  test('keep secrets in memory for a second at most', () => {
    vi.useFakeTimers();
    try {
      const decryptSecret = vi.fn(keys.decryptSecret);
      const prepared = createPrepare({ decryptSecret });
      prepared(waiting, 2);
      vi.advanceTimersByTime(999);
      prepared(waiting, 2);
      expect(decryptSecret).toHaveBeenCalledTimes(1);
      vi.advanceTimersByTime(1);
      prepared(waiting, 2);
      expect(decryptSecret).toHaveBeenCalledTimes(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test('have the numbers they are given', () => {
    expect(createPrepare(keys)(waiting, 5)).toEqual({ ...request({}), number: 5 });
  });
});

test('a broken snapshot cannot be sent', () => {
  expect(() => request({ snapshot: '{' })).toThrow();
});
