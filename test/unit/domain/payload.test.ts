/** The payload of an event for a webhook (docs/interface.md, D1–D3). */
import { expect, test } from 'vitest';
import { payloadOf } from '../../../src/domain/payload.ts';

const event = {
  eventType: 'UPDATE_ORDER',
  entityId: 'a/1',
  snapshot: { quantity: '2', packingLists: [] },
  url: 'https://shop.example/hook?order=',
  parameters: null,
  payloadVersion: 'v2',
} as const;

test('a POST goes to the URL as it is, with the record', () => {
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
