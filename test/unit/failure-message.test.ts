/** The failure of an attempt in one sentence, made from codes alone; of the URL it names only the host. */
import { describe, expect, test } from 'vitest';
import { BlockedDestination } from '../../src/delivery/connector.ts';
import {
  failureMessage,
  informationalMessage,
  stallMessage,
  statusMessage,
  timeoutMessage,
} from '../../src/delivery/failure-message.ts';
import { LookupError } from '../../src/delivery/resolver.ts';

const HOST = 'shop.example:8443';
const said = (error: unknown) => failureMessage(error, HOST, 5_000);
const coded = (code: string, cause?: unknown) =>
  Object.assign(new Error('https://shop.example/path?secret', { cause }), { code });

describe('a response other than a success', () => {
  test.each([
    [503, 'HTTP 503 from shop.example after 212 ms'],
    [400, 'HTTP 400 from shop.example after 212 ms'],
    [304, 'HTTP 304 from shop.example after 212 ms'],
    [410, 'HTTP 410 (gone) from shop.example after 212 ms'],
    ...[301, 302, 303, 307, 308].map((status): [number, string] => [
      status,
      `redirect (HTTP ${status}) from shop.example: redirects are not followed`,
    ]),
  ])('%i', (status, message) => {
    expect(statusMessage(status, 'shop.example', 212)).toBe(message);
  });
});

test.each([
  [15_000, '15 s'],
  [2_500, '2.5 s'],
  [1_000, '1 s'],
  [999, '999 ms'],
])('no response within %i ms', (timeoutMs, written) => {
  expect(timeoutMessage('shop.example', timeoutMs)).toBe(`no response from shop.example within ${written}`);
});

describe('an error', () => {
  test.each([
    ['ECONNREFUSED', `${HOST} refused the connection`],
    ['ECONNRESET', `${HOST} reset the connection`],
    ['EPIPE', `${HOST} closed the connection without responding`],
    ['UND_ERR_SOCKET', `${HOST} closed the connection without responding`],
    ['ETIMEDOUT', `no connection to ${HOST} within 5 s`],
    ['UND_ERR_CONNECT_TIMEOUT', `no connection to ${HOST} within 5 s`],
    ['EHOSTUNREACH', `${HOST} cannot be reached (EHOSTUNREACH)`],
    ['ENETUNREACH', `${HOST} cannot be reached (ENETUNREACH)`],
    ['EADDRNOTAVAIL', `${HOST} cannot be reached (EADDRNOTAVAIL)`],
    ['CERT_HAS_EXPIRED', `TLS certificate of ${HOST} has expired`],
    ['CERT_NOT_YET_VALID', `TLS certificate of ${HOST} is not valid yet`],
    ['CERT_REVOKED', `TLS certificate of ${HOST} has been revoked`],
    ['ERR_TLS_CERT_ALTNAME_INVALID', `TLS certificate of ${HOST} does not match its host name`],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', `TLS certificate of ${HOST} is self-signed`],
    ['SELF_SIGNED_CERT_IN_CHAIN', `TLS certificate of ${HOST} is not from a trusted authority`],
    [
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      `${HOST} does not send its intermediate certificate, or its certificate is not from a trusted authority`,
    ],
    ['UNABLE_TO_GET_ISSUER_CERT', `TLS certificate of ${HOST} is not from a trusted authority`],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', `TLS certificate of ${HOST} is not from a trusted authority`],
    ['ERR_SSL_WRONG_VERSION_NUMBER', `${HOST} does not speak TLS on this port`],
    ['ERR_SSL_PACKET_LENGTH_TOO_LONG', `${HOST} does not speak TLS on this port`],
    ['ERR_SSL_SOMETHING', `TLS connection to ${HOST} failed (ERR_SSL_SOMETHING)`],
    ['ERR_TLS_SOMETHING', `TLS connection to ${HOST} failed (ERR_TLS_SOMETHING)`],
    ['MY_ERR_SSL_THING', `connection to ${HOST} failed (MY_ERR_SSL_THING)`],
    ['UND_ERR_HEADERS_OVERFLOW', `${HOST} sent headers that are too large`],
    ['EWHATEVER', `connection to ${HOST} failed (EWHATEVER)`],
  ])('%s', (code, message) => {
    expect(said(coded(code))).toBe(message);
  });

  test('an error of the HTTP parser, with or without a code, means invalid HTTP', () => {
    const unparsed = Object.assign(new Error('x'), { name: 'HTTPParserError' });
    expect(said(unparsed)).toBe(`${HOST} did not respond with valid HTTP`);
    expect(said(Object.assign(unparsed, { code: 'HPE_INVALID' }))).toBe(
      `${HOST} did not respond with valid HTTP`,
    );
  });

  test('an error without a usable code is unknown', () => {
    const nothing = `connection to ${HOST} failed (unknown error)`;
    expect(said(new Error('x'))).toBe(nothing);
    expect(said(Object.assign(new Error('x'), { code: 7 }))).toBe(nothing);
    expect(said({ code: 'ECONNREFUSED' })).toBe(nothing);
    expect(said('ECONNREFUSED')).toBe(nothing);
    expect(said(undefined)).toBe(nothing);
  });

  test('an error whose cause says more is described by the cause', () => {
    expect(said(coded('UND_ERR_SOCKET', coded('ECONNRESET')))).toBe(`${HOST} reset the connection`);
    expect(said(coded('UND_ERR_SOCKET', coded('EWHATEVER')))).toBe(
      `connection to ${HOST} failed (EWHATEVER)`,
    );
    expect(said(coded('UND_ERR_SOCKET', new Error('x')))).toBe(
      `${HOST} closed the connection without responding`,
    );
    expect(said(new Error('fetch failed', { cause: coded('ECONNREFUSED') }))).toBe(
      `${HOST} refused the connection`,
    );
    expect(said(coded('EOTHER', coded('ECONNREFUSED')))).toBe(`${HOST} refused the connection`);
    expect(said(coded('EOTHER', 'ECONNREFUSED'))).toBe(`connection to ${HOST} failed (EOTHER)`);
  });

  test.each(['ERR_ASSERTION', 'UND_ERR_INVALID_ARG'])(
    'an error of the client itself is described without its jargon: %s',
    (code) => {
      expect(said(coded(code))).toBe(`${HOST} did not respond with valid HTTP`);
    },
  );

  test('with a code that says enough is described by it, whatever the cause', () => {
    expect(said(coded('ECONNREFUSED', coded('ECONNRESET')))).toBe(`${HOST} refused the connection`);
  });

  test('for several addresses is described by the first one', () => {
    expect(said(new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')]))).toBe(
      `${HOST} refused the connection (2 addresses tried)`,
    );
    expect(said(new AggregateError([]))).toBe(`connection to ${HOST} failed (unknown error)`);
  });
});

describe('a refused destination', () => {
  const refused = (host: string, address: string) =>
    failureMessage(new BlockedDestination(address, 'is in a private range'), host, 5_000);

  test.each(['10.0.0.5', '10.0.0.5:8443'])('is named if it is the address in the URL: %s', (host) => {
    expect(refused(host, '10.0.0.5')).toBe('destination 10.0.0.5 is in a private range');
  });

  test.each(['[fd00::5]', '[fd00::5]:8443'])('is named if it is the IPv6 address in the URL: %s', (host) => {
    expect(refused(host, 'fd00::5')).toBe('destination fd00::5 is in a private range');
  });

  test('is not named if the URL has a host name', () => {
    expect(refused(HOST, '10.0.0.5')).toBe(`the address of ${HOST} is not allowed`);
  });
});

test.each([
  ['ENOTFOUND', false, `${HOST} has no address (DNS: ENOTFOUND)`],
  ['ESERVFAIL', false, `the name server of ${HOST} does not respond properly (DNS: ESERVFAIL)`],
  ['ETIMEOUT', true, `our resolver is not responding (DNS: ETIMEOUT), so ${HOST} could not be looked up`],
  ['ELOOKUPS', true, `too many DNS lookups were queued ahead of ${HOST}`],
])('a failed lookup: %s, internal: %s', (code, internal, message) => {
  expect(said(new LookupError('shop.example', code, internal))).toBe(message);
});

test('a stalled process, and a receiver that sends only informational responses', () => {
  expect(stallMessage(HOST, 2_449)).toBe(`this process was stalled for 2.4 s while calling ${HOST}`);
  expect(stallMessage(HOST, 851)).toBe(`this process was stalled for 900 ms while calling ${HOST}`);
  expect(informationalMessage(HOST, 10)).toBe(
    `${HOST} sent more than 10 informational responses (HTTP 1xx) and no final one`,
  );
});

test('an error for several addresses without a single one is described by its own code', () => {
  const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
  expect(said(error)).toBe(`${HOST} refused the connection`);
});
