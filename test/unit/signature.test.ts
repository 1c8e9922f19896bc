import { createHmac, generateKeyPairSync, timingSafeEqual, verify as verifyWith } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { buildRequest } from '../../src/delivery/request.ts';
import { serviceSignature, standardSignature } from '../../src/delivery/signature.ts';
import { wireEvent } from '../support/wire-event.ts';

const NEW = 'whsec_bmV3IHNlY3JldCBvZiB0aGlydHktdHdvIGJ5dGVzISE=';
const OLD = 'whsec_b2xkIHNlY3JldCBvZiB0aGlydHktdHdvIGJ5dGVzISE=';
const DELIVERY = '0197a0b4-0000-7000-8000-000000000001';
const BODY = '{"eshopOrderId":"10001","note":"žluťoučký kůň"}';

/** A receiver's check: ten lines that know only the header, the secret and the request. */
function verify(header: string, secret: string, content: string): boolean {
  const parts = header.split(',');
  const t = parts.find((part) => part.startsWith('t='))?.slice(2);
  const expected = createHmac('sha256', secret).update(`${t}.${content}`).digest();
  return parts
    .filter((part) => part.startsWith('v1='))
    .map((part) => Buffer.from(part.slice(3), 'hex'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}

function attempt(method: 'POST' | 'GET', secrets: readonly string[]) {
  return buildRequest(
    {
      ...wireEvent,
      eshopId: 1,
      url: 'https://shop.example/hooks?order=',
      method,
      secrets,
      deliveryId: DELIVERY,
      eventType: 'CREATE_ORDER',
      entityId: '10001',
      number: 3,
      body: method === 'POST' ? BODY : null,
      at: new Date(),
    },
    '1.2.3',
  );
}

// Computed with `printf '%s' "$t.$content" | openssl dgst -sha256 -hmac "$secret"`. What is piped for `v2` is
// `printf '%s\n' "$t" d-1 e-1 CREATE_ORDER 3 7 true POST '/hooks?a=1'` and `printf '%s' '{"a":1}'`; for `v3`
// likewise, with `shop ''` behind the 7. The second signature is that of
// `openssl dgst -sha256 -mac HMAC -macopt hexkey:$key -binary | base64`, with
// `key=$(base64 -d <<< "${secret#whsec_}" | od -An -tx1 | tr -d ' ')`.
test('signatures equal those that openssl computes', () => {
  const timestamp = 1_700_000_000;
  const signed = {
    deliveryId: 'd-1',
    eventId: 'e-1',
    eventType: 'CREATE_ORDER',
    sequence: 3,
    webhookId: 7,
    origin: 'shop',
    changed: null,
    test: true,
    method: 'POST',
    target: '/hooks?a=1',
    body: '{"a":1}',
  } as const;
  expect(serviceSignature({ secrets: [NEW], timestamp, ...signed })).toBe(
    't=1700000000,v1=5d4728df4fb6850e4cb0e398ec0f36b00752e2f35b67da0bf981f39c488bd630,v2=ff24c329eb4581507ea8aad722dd0605a03e37f03082807963c433cc17fa3378,v3=c5547b4e64fcb4e03b3603fdae975b5662b657dee45bfb18a0bf8efba66f212a',
  );
  expect(standardSignature({ secrets: [NEW], timestamp, deliveryId: 'msg_1', body: '{"a":1}' })).toBe(
    'v1,OeL1P8HAwwQIdeZ+6o9/FFw4VniJBHqQLE0vVUZSapk=',
  );
  // `printf '%s' 'msg_1.1700000000.{"a":1}' | openssl dgst -sha256 -hmac "$own" -binary | base64`
  const own = 'the secret of our old system';
  expect(standardSignature({ secrets: [own], timestamp, deliveryId: 'msg_1', body: '{"a":1}' })).toBe(
    'v1,oOhggmocoEEIczAey+GDObNK3arAFSE4wIQiGdMlj/o=',
  );
});

test('a receiver verifies a POST by the body, and only with the right secret and body', () => {
  const { headers } = attempt('POST', [NEW]);
  const header = headers['x-service-signature'] ?? '';

  expect(header).toMatch(/^t=\d{10},v1=[0-9a-f]{64},v2=[0-9a-f]{64},v3=[0-9a-f]{64}$/);
  expect(verify(header, NEW, BODY)).toBe(true);
  expect(verify(header, OLD, BODY)).toBe(false);
  expect(verify(header, NEW, `${BODY} `)).toBe(false);
});

test('a receiver verifies a GET by path and query', () => {
  const { headers, path } = attempt('GET', [NEW]);

  expect(path).toBe('/hooks?order=10001');
  expect(verify(headers['x-service-signature'] ?? '', NEW, '/hooks?order=10001')).toBe(true);
  expect(verify(headers['x-service-signature'] ?? '', NEW, '/hooks?order=10002')).toBe(false);
});

test('both secrets verify during an overlap, and the newest comes first', () => {
  const { headers } = attempt('POST', [NEW, OLD]);
  const header = headers['x-service-signature'] ?? '';

  expect(header).toMatch(/^t=\d{10}(,v1=[0-9a-f]{64}){2}(,v2=[0-9a-f]{64}){2}(,v3=[0-9a-f]{64}){2}$/);
  expect(verify(header, NEW, BODY)).toBe(true);
  expect(verify(header, OLD, BODY)).toBe(true);
  expect(verify(header.split(',').slice(0, 2).join(','), NEW, BODY)).toBe(true);
  expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
});

test.each([
  ['v2', []],
  // Behind the webhook: who made the change, and what it changed.
  ['v3', ['warehouse', 'note,priority']],
])('%s covers everything a receiver acts on: a change of any line fails', (version, written) => {
  for (const [method, secrets] of [
    ['POST', [NEW, OLD]],
    ['GET', [NEW]],
  ] as const) {
    const { headers, path } = attempt(method, secrets);
    const body = method === 'POST' ? BODY : '';
    const header = headers['x-service-signature'] ?? '';
    const lines = [
      headers['webhook-timestamp'],
      DELIVERY,
      wireEvent.eventId,
      'CREATE_ORDER',
      '3',
      '7',
      ...written,
      '',
      method,
      path,
      body,
    ];
    const made = (secret: string, content: readonly unknown[]) =>
      `${version}=${createHmac('sha256', secret).update(content.join('\n')).digest('hex')}`;
    const given = header.split(',').filter((part) => part.startsWith(`${version}=`));
    expect(given).toEqual(secrets.map((secret) => made(secret, lines)));
    for (const at of lines.keys()) {
      expect(given).not.toContain(made(NEW, lines.with(at, 'changed')));
    }
  }
});

test.each([
  ['one secret', [NEW], NEW],
  ['the new secret of an overlap', [NEW, OLD], NEW],
  ['the old secret of an overlap', [NEW, OLD], OLD],
])('the published Standard Webhooks library verifies a POST with %s', (_, secrets, known) => {
  const { headers } = attempt('POST', secrets);

  expect(new Webhook(known).verify(BODY, { ...headers })).toEqual(JSON.parse(BODY));
  expect(() => new Webhook(known).verify(BODY.replace('10001', '10002'), { ...headers })).toThrow();
});

test('the published Standard Webhooks library verifies a GET, signed with an empty body', () => {
  const { headers } = attempt('GET', [NEW]);
  const timestamp = Number(headers['webhook-timestamp']);

  const expected = new Webhook(NEW).sign(DELIVERY, new Date(timestamp * 1000), '');
  expect(headers['webhook-signature']).toBe(expected);
});

test('signing keys add a v1a each after every v1, and the published library still verifies', () => {
  const pairs = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
  const timestamp = Math.floor(Date.now() / 1_000);
  const header = standardSignature({
    secrets: [NEW, OLD],
    signingKeys: pairs.map(({ privateKey }) => privateKey),
    timestamp,
    deliveryId: DELIVERY,
    body: BODY,
  });
  const given = header.split(' ').map((one) => one.split(','));
  expect(given.map(([version]) => version)).toEqual(['v1', 'v1', 'v1a', 'v1a']);
  const content = Buffer.from(`${DELIVERY}.${timestamp}.${BODY}`);
  for (const [index, { publicKey }] of pairs.entries()) {
    const signature = Buffer.from(given[index + 2]?.[1] ?? '', 'base64');
    expect(verifyWith(null, content, publicKey, signature)).toBe(true);
    expect(verifyWith(null, Buffer.concat([content, content]), publicKey, signature)).toBe(false);
  }
  const headers = {
    'webhook-id': DELIVERY,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': header,
  };
  for (const secret of [NEW, OLD])
    expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY));
});

test('both signature headers have the same time', () => {
  const { headers } = attempt('POST', [NEW]);

  expect(headers['x-service-signature']).toContain(`t=${headers['webhook-timestamp']},`);
  expect(headers['webhook-id']).toBe(DELIVERY);
});
