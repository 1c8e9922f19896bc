/** The payload of an event for a webhook (docs/interface.md, D1–D3). */
import { expect, test } from 'vitest';
import type { EventType } from '../../../src/domain/event-types.ts';
import { sampleOrder } from '../../../src/domain/order/record.ts';
import { payloadOf } from '../../../src/domain/payload.ts';
import { withoutPersonalData } from '../../../src/domain/personal-data.ts';
import { render } from '../../../src/domain/render.ts';
import { sampleReturn } from '../../../src/domain/return/schema.ts';

const event = {
  eventType: 'UPDATE_ORDER',
  entityId: 'a/1',
  snapshot: { quantity: '2', packingLists: [] },
  url: 'https://shop.example/hook?order=',
  parameters: null,
  payloadVersion: 'v2',
} as const;

test('a POST goes to the URL unchanged, with the record', () => {
  const { url } = event;
  expect(payloadOf({ ...event, method: 'POST' })).toEqual({ method: 'POST', url, body: '{"quantity":"2"}' });
  expect(
    payloadOf({
      ...event,
      method: 'POST',
      payloadVersion: 'v21',
      parameters: { withPackingLists: true },
    }).body,
  ).toBe('{"quantity":2,"packingLists":[]}');
});

test('a GET has the identifier at the end of its URL, and no body', () => {
  expect(payloadOf({ ...event, method: 'GET' })).toEqual({
    method: 'GET',
    url: 'https://shop.example/hook?order=a%2F1',
    body: null,
  });
});

test("a payload without personal data equals an erased record, in the webhook's form", () => {
  const form = { version: 'v21', withPackingLists: false } as const;
  const bodyOf = (eventType: EventType, snapshot: object) =>
    payloadOf({
      ...event,
      method: 'POST',
      payloadVersion: 'v21',
      parameters: { withoutPersonalData: true },
      eventType,
      snapshot: JSON.stringify(snapshot),
    }).body;
  const order = { ...sampleOrder, note: 'Zoe called', pickupPoint: 'at hers' };
  expect(bodyOf('CREATE_ORDER', order)).toBe(render(withoutPersonalData('order', order), form));
  const returned = { ...sampleReturn, description: 'of Zoe', eshopNote: 'for Zoe', note: 'by Zoe' };
  expect(bodyOf('UPDATE_RETURN', returned)).toBe(render(withoutPersonalData('return', returned), form));
  // An open delivery of another type, from before the webhook's type was changed.
  expect(bodyOf('CREATE_PRODUCT', { note: 'blue' })).toBe('{"note":"blue"}');
});
