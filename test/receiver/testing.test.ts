/** Fake deliveries equal the sender's; one with any other byte is refused. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStore, receiver } from '../../receiver/src/index.ts';
import { fakeDelivery, sign, testSecret } from '../../receiver/src/testing.ts';
import { buildRequest } from '../../src/delivery/request.ts';
import { sampleOf } from '../../src/domain/catalogue.ts';
import { type PayloadVersion, payloadVersions } from '../../src/domain/decimal.ts';
import { eventTypeNames, packingListEventTypes } from '../../src/domain/event-types.ts';
import { render } from '../../src/domain/render.ts';
import { nightly } from '../support/runner/nightly.ts';
import { wireEvent } from '../support/wire-event.ts';

function setUp(payloadVersion: PayloadVersion = 'v2') {
  const seen: [string, string | null, unknown][] = [];
  const hooks = receiver({
    secrets: testSecret,
    store: memoryStore(),
    payloadVersion,
    read: async ({ entityId }) => ({ entityId }),
    onProblem: () => {},
  }).otherwise((record, { kind, entityId }) => void seen.push([kind, entityId, record]));
  return { hooks, seen };
}

describe.each(eventTypeNames)('a fake %s', (kind) => {
  it.each(payloadVersions)('carries the sample in %s', async (version) => {
    const request = await fakeDelivery(kind, { payloadVersion: version });
    const withPackingLists = packingListEventTypes.includes(kind);
    expect(await request.clone().text()).toBe(render(sampleOf(kind), { version, withPackingLists }));
    const { hooks, seen } = setUp(version);
    expect((await hooks(request)).status).toBe(200);
    expect(seen).toEqual([
      [kind, expect.any(String), JSON.parse(render(sampleOf(kind), { version, withPackingLists }))],
    ]);
  });

  it('can be a GET', async () => {
    const { hooks, seen } = setUp();
    expect((await hooks(await fakeDelivery(kind, { method: 'GET' }))).status).toBe(200);
    const [[, entityId] = []] = seen;
    const posted = setUp();
    await posted.hooks(await fakeDelivery(kind));
    expect(entityId).toBe(posted.seen[0]?.[1]);
  });
});

it('a fake delivery may differ from the sample', async () => {
  const { hooks, seen } = setUp();
  await hooks(await fakeDelivery('CREATE_ORDER', { payload: { eshopOrderId: '7', paid: true } }));
  expect(seen[0]?.slice(0, 2)).toEqual(['CREATE_ORDER', '7']);
  expect(seen[0]?.[2]).toMatchObject({ eshopOrderId: '7', paid: true, recipientCountry: 'CZ' });
});

it('a GET carries any identifier', async () => {
  const bases = ['https://shop.example/hooks/', 'https://shop.example/h?order=', 'https://shop.example'];
  const identifiers = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 64 });
  const usual = identifiers.filter((id) => id !== '.' && id !== '..');
  await fc.assert(
    fc.asyncProperty(usual, fc.constantFrom(...bases), async (entityId, url) => {
      const { hooks, seen } = setUp();
      const sent = {
        ...wireEvent,
        eshopId: 1,
        url,
        method: 'GET' as const,
        secrets: [testSecret],
        deliveryId: 'd',
        entityId,
        at: new Date(),
      };
      const wire = buildRequest({ ...sent, eventType: 'CREATE_ORDER', number: 1, body: null }, '0');
      const request = new Request(`${wire.origin}${wire.path}`, { headers: wire.headers });
      expect((await hooks(request)).status).toBe(200);
      expect(seen[0]?.[1]).toBe(entityId);
    }),
    { numRuns: nightly ? 200 : 60 },
  );
});

it('a request in which any byte differs is refused', async () => {
  const url = 'https://shop.example/hooks';
  const body = '{"eshopOrderId":"10001"}';
  const signed = [
    'x-service-signature',
    'x-service-delivery',
    'x-service-event-id',
    'x-service-event',
    'x-service-sequence',
    'x-service-webhook',
    'x-service-origin',
    'x-service-changed',
    'x-service-test',
  ];
  const event = { kind: 'UPDATE_ORDER', id: 'd-1', origin: 'shop', changed: ['note', 'paid'] } as const;
  const made = await sign({ method: 'POST', url, ...event, body, test: true });
  // Without v1 and v2, which are ignored beside v3.
  const headers = {
    ...made,
    'x-service-signature': (made['x-service-signature'] ?? '').replace(/v[12]=[^,]*,/g, ''),
  };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('body', ...signed),
      fc.nat(),
      fc.integer({ min: 33, max: 126 }),
      async (place, at, code) => {
        const { hooks, seen } = setUp();
        const text = place === 'body' ? body : (new Headers(headers).get(place) ?? '');
        const index = at % text.length;
        const changed = text.slice(0, index) + String.fromCharCode(code) + text.slice(index + 1);
        fc.pre(changed !== text);
        const request = new Request(url, {
          method: 'POST',
          headers: place === 'body' ? headers : { ...headers, [place]: changed },
          body: place === 'body' ? changed : body,
        });
        expect((await hooks(request)).status).toBe(401);
        expect(seen).toEqual([]);
      },
    ),
    { numRuns: nightly ? 400 : 120 },
  );
});
