import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { safeExcerpt } from '../../src/delivery/excerpt.ts';
import { buildRequest } from '../../src/delivery/request.ts';
import { parseRetryAfter } from '../../src/delivery/retry-after.ts';
import { encodeIdentifier, requestTarget } from '../../src/domain/request-target.ts';
import { wireEvent } from '../support/wire-event.ts';

describe('the target of a request', () => {
  test.each([
    // The e-shop decides what follows the slash or the equals sign.
    ['https://shop.example/orders/', '10001', '/orders/10001'],
    ['https://shop.example/hook?order=', '10001', '/hook?order=10001'],
    ['https://shop.example/hook?a=1&b=', 'x', '/hook?a=1&b=x'],
    ['https://shop.example/orders', '10001', '/orders10001'],
    ['https://shop.example/hook?', '10001', '/hook?10001'],
    ['https://shop.example/o/', 'a b/č?&#%', '/o/a%20b%2F%C4%8D%3F%26%23%25'],
    ['https://shop.example/o/', "-._~!'()*", '/o/-._~%21%27%28%29%2A'],
    ['https://shop.example/%C4%8D/a%2fb/', '1', '/%C4%8D/a%2fb/1'],
    ['https://shop.example/č/', '1', '/%C4%8D/1'],
    // A dot segment in an identifier is kept.
    ['https://shop.example/orders/', '..', '/orders/..'],
  ])('%s with %s appended asks for %s', (url, id, path) => {
    expect(requestTarget(url, id).path).toBe(path);
  });

  test.each([
    ['https://shop.example', '.evil.example'],
    ['http://shop.example:80', '80'],
    ['http://127.0.0.1', '@10.0.0.5/'],
  ])('an identifier after %s never changes the host', (url, id) => {
    const { origin } = new URL(url);

    expect(requestTarget(url, id)).toMatchObject({ origin, path: `/${encodeIdentifier(id)}` });
  });

  test('user name, password and fragment are never sent', () => {
    expect(requestTarget('https://user:pass@shop.example:8443/a?b#c', null)).toEqual({
      origin: 'https://shop.example:8443',
      host: 'shop.example:8443',
      path: '/a?b',
    });
  });

  test('an encoded identifier has only unreserved characters, and decodes to itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (id) => {
        const encoded = encodeIdentifier(id);
        expect(encoded).toMatch(/^(?:[A-Za-z0-9\-._~]|%[0-9A-F]{2})*$/);
        expect(decodeURIComponent(encoded)).toBe(id);
      }),
    );
    expect(encodeIdentifier('a\ud800')).toBe('a%EF%BF%BD');
  });
});

const request = {
  ...wireEvent,
  eshopId: 1,
  url: 'https://shop.example/h',
  method: 'POST',
  secrets: ['whsec_AAAA'],
  deliveryId: 'd-1',
  eventType: 'UPDATE_ORDER',
  entityId: '10001',
  number: 21,
  body: '{}',
  at: new Date(1_700_000_000_999),
} as const;

test('the headers describe the delivery', () => {
  const { headers, body } = buildRequest(request, '1.2.3');

  expect(body).toBe('{}');
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Waybill/1.2.3',
    'accept-encoding': 'identity',
    'x-service-event': 'UPDATE_ORDER',
    'x-service-delivery': 'd-1',
    'x-service-attempt': '21',
    'x-service-webhook': '7',
    'x-service-sequence': '3',
    'x-service-event-id': wireEvent.eventId,
    'x-service-event-time': '2026-11-20T10:42:07.310Z',
    'x-service-origin': 'warehouse',
    'x-service-changed': 'note,priority',
    'webhook-id': 'd-1',
    'webhook-timestamp': '1700000000',
  });
  expect(headers).not.toHaveProperty('x-service-test');
  expect(buildRequest({ ...request, changed: null }, '1').headers).not.toHaveProperty('x-service-changed');
  expect(buildRequest({ ...request, test: true }, '1').headers['x-service-test']).toBe('true');
  // A POST goes to the URL itself; a GET appends the identifier, and has no body.
  const { pathname } = new URL(request.url);
  expect(buildRequest(request, '1').path).toBe(pathname);
  expect(buildRequest({ ...request, body: null }, '1').body).toBe('');
  expect(buildRequest({ ...request, method: 'GET' }, '1')).toMatchObject({
    path: `${pathname}10001`,
    body: null,
  });
  expect(buildRequest({ ...request, method: 'GET' }, '1').headers).not.toHaveProperty('content-type');
});

test('static headers are sent; our own win, except for the accepted encoding', () => {
  const built = (staticHeaders: Record<string, string>, traceparent?: string) =>
    buildRequest({ ...request, staticHeaders, ...(traceparent === undefined ? {} : { traceparent }) }, '1')
      .headers;
  const sent = built({ 'X-Gateway-Key': 'k', 'Accept-Encoding': 'gzip', 'USER-AGENT': 'other' });
  expect(sent).toMatchObject({ 'X-Gateway-Key': 'k', 'Accept-Encoding': 'gzip', 'user-agent': 'Waybill/1' });
  expect(sent).not.toHaveProperty('accept-encoding');
  expect(sent).not.toHaveProperty('USER-AGENT');
  expect(built({ Traceparent: 'theirs' }, 'ours')).toMatchObject({ traceparent: 'ours' });
  expect(built({ Traceparent: 'theirs' }, 'ours')).not.toHaveProperty('Traceparent');
  expect(built({ Traceparent: 'theirs' })).toMatchObject({ Traceparent: 'theirs' });
  expect(built({})).not.toHaveProperty('traceparent');
});

test('an examination can send a request unsigned, or signed as another one', () => {
  const {
    'x-service-signature': service,
    'webhook-signature': standard,
    ...rest
  } = buildRequest(request, '1').headers;
  expect(buildRequest({ ...request, unsigned: true }, '1').headers).toEqual(rest);
  const altered = buildRequest({ ...request, signedAs: { body: '[]' } }, '1');
  const other = buildRequest({ ...request, body: '[]' }, '1');
  expect(altered.body).toBe('{}');
  expect(altered.headers).toEqual(other.headers);
  expect([altered.headers['x-service-signature'], altered.headers['webhook-signature']]).not.toEqual([
    service,
    standard,
  ]);
});

describe('Retry-After', () => {
  const now = Date.parse('2026-11-20T19:33:00Z');

  test.each([
    ['120', 120_000],
    ['0', 0],
    [' 5 ', 5_000],
    ['Fri, 20 Nov 2026 19:34:00 GMT', 60_000],
    ['Friday, 20-Nov-26 19:34:00 GMT', 60_000],
    ['Fri Nov 20 19:34:00 2026', 60_000],
    ['Fri, 20 Nov 2026 19:00:00 GMT', 0],
    ['99999999999999999999', 10 * 365 * 86_400_000],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['2026-11-20T19:34:00Z', null],
    ['Fri, 99 Nov 2026 19:34:00 GMT', null],
    ['', null],
    [undefined, null],
  ])('%j means %j ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });

  test('a date without a zone is GMT, whatever the time zone of the process', () => {
    const zone = process.env.TZ;
    process.env.TZ = 'America/New_York';
    try {
      const at = Date.parse('1994-11-06T08:49:37Z');
      expect(parseRetryAfter('Sun Nov  6 08:49:37 1994', at - 5_000)).toBe(5_000);
      expect(parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', at - 5_000)).toBe(5_000);
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });
});

describe('the excerpt of a response', () => {
  test('keeps the first kibibyte, without half a character', () => {
    const text = `${'x'.repeat(1023)}č and more`;

    expect(safeExcerpt(Buffer.from(text))).toBe('x'.repeat(1023));
    expect(safeExcerpt(Buffer.from('x'.repeat(5000)))).toHaveLength(1024);
  });

  test('is safe for a database and a terminal', () => {
    expect(safeExcerpt(Buffer.from([0x61, 0x00, 0xff, 0x1b, 0x5b, 0x0a, 0x62]))).toBe(
      'a\ufffd\ufffd\ufffd[\nb',
    );
    expect(safeExcerpt(Buffer.from([0x61, 0xc4]))).toBe('a\ufffd');
    expect(safeExcerpt(Buffer.alloc(0))).toBeNull();
    // As long as the limit: the rest of the character may have been cut off.
    expect(safeExcerpt(Buffer.concat([Buffer.alloc(1023, 'x'), Buffer.from([0xc4])]))).toBe('x'.repeat(1023));
  });

  test.each([
    ['text/plain; charset=iso-8859-2', 'ž'],
    ['text/plain;charset=ISO-8859-2; format=flowed', 'ž'],
    ['text/plain; Charset = "iso-8859-2"', 'ž'],
    ['text/plain; charset=windows-1252', '\u00be'],
    ['text/plain; charset=unheard-of', '\ufffd'],
    ['text/plain; charset=', '\ufffd'],
    ['text/plain', '\ufffd'],
    [undefined, '\ufffd'],
  ])('is decoded by its content type %j', (contentType, text) => {
    expect(safeExcerpt(Buffer.from([0xbe]), contentType)).toBe(text);
  });

  test('never contains a control character, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 2000 }), (bytes) => {
        const excerpt = safeExcerpt(bytes) ?? '';
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
        expect(excerpt).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/);
        expect(excerpt).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });
});
