/**
 * The failure of an attempt as one sentence for people. It names the host (with an unusual port), and never path,
 * query, header or secret.
 */
import { errors } from 'undici';
import { BlockedDestination } from './connector.ts';
import { faultOf } from './fault.ts';
import { ProxyError } from './outbound-proxy.ts';
import { LookupError } from './resolver.ts';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The sentence for an answer that is not a 2xx: "HTTP 503 from shop.example after 212 ms".
 * @param firewall the name of the firewall that answered in front of the shop; null if none is known
 */
export function statusMessage(
  status: number,
  host: string,
  durationMs: number,
  firewall: string | null = null,
): string {
  if (firewall !== null)
    return `HTTP ${status} from ${host} after ${durationMs} ms: the firewall in front of it (${firewall}) refused the request`;
  if (REDIRECTS.has(status)) return `redirect (HTTP ${status}) from ${host}: redirects are not followed`;
  if (status === 410) return `HTTP 410 (gone) from ${host} after ${durationMs} ms`;
  return `HTTP ${status} from ${host} after ${durationMs} ms`;
}

/** The sentence for a receiver that did not answer in time: "no response from shop.example within 15 s". */
export function timeoutMessage(host: string, timeoutMs: number): string {
  return `no response from ${host} within ${duration(timeoutMs)}`;
}

/** The sentence for a URL that cannot be called at all; it does not quote the URL. */
export const INVALID_URL = 'the URL of the webhook is not an absolute http or https URL';

/**
 * The sentence for an error of DNS, connection, TLS or HTTP parsing, made from the error's code: its message may
 * hold anything and is not repeated.
 */
export function failureMessage(error: unknown, host: string, connectTimeoutMs: number): string {
  const cause = firstOf(error);
  if (cause instanceof BlockedDestination) {
    const hostname = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
    // The address behind a name is not shown: otherwise registering webhooks would reveal our internal name service.
    if (hostname !== cause.address) return `the address of ${host} is not allowed`;
    return `destination ${cause.address} ${cause.reason}`;
  }
  if (cause instanceof LookupError) return lookupMessage(cause, host);
  if (cause instanceof ProxyError) return `no connection to ${host}: ${cause.message}`;
  // undici's message for an unrequested 101.
  if (cause instanceof errors.SocketError && cause.message === 'bad upgrade')
    return `${host} switched protocols (HTTP 101) instead of responding`;
  const code = codeOf(cause);
  const message = SENTENCES[code];
  if (message !== undefined) return `${message(host, connectTimeoutMs, code)}${triedText(error)}`;
  if (cause instanceof Error && cause.name === 'HTTPParserError') return malformedMessage(cause, host);
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) {
    return `TLS connection to ${host} failed (${code})`;
  }
  // The client's own codes mean nothing to people: it did not understand the response.
  if (code.startsWith('UND_ERR_') || code.startsWith('ERR_'))
    return `${host} did not respond with valid HTTP`;
  return `connection to ${host} failed (${code})`;
}

/** Says how many addresses of a name were tried, if there was more than one. */
function triedText(error: unknown): string {
  const tried = error instanceof AggregateError ? error.errors.length : triedInTime(error);
  return tried > 1 ? ` (${tried} addresses tried)` : '';
}

/** undici's message lists the addresses; they are counted, not repeated. */
function triedInTime(error: unknown): number {
  if (!(error instanceof errors.ConnectTimeoutError)) return 1;
  return /attempted addresses: ([^)]*), timeout/.exec(error.message)?.[1]?.split(', ').length ?? 1;
}

/** What the parser (llhttp) found wrong with a response; its message ends with these words in brackets. */
const MALFORMED: readonly (readonly [RegExp, string])[] = [
  [/^Expected HTTP\//, 'it does not begin with HTTP/1.1'],
  [/^Invalid header token$/, 'an invalid character in the name of a header'],
  [/^Invalid header value char$/, 'an invalid character in the value of a header'],
  [/^Missing expected CR|^Missing expected LF|^Unexpected whitespace after CR/, 'a line ends without CR LF'],
  [/Content-Length/, 'its Content-Length is not a number, or there are several'],
  [/chunk/i, 'its chunks are malformed'],
  [/Transfer-Encoding/, 'its Transfer-Encoding is not understood'],
  [/status/i, 'its status is not a number of three digits'],
  [/version/i, 'its version of HTTP is unknown'],
];

/** The sentence for a response that the parser refuses. It quotes nothing of the response. */
function malformedMessage({ message }: Error, host: string): string {
  const found = /\(([^()]+)\)$/.exec(message)?.[1] ?? '';
  const problem = MALFORMED.find(([pattern]) => pattern.test(found))?.[1];
  return `${host} did not respond with valid HTTP${problem === undefined ? '' : `: ${problem}`}`;
}

/** The sentence for a name without an address. */
function lookupMessage({ code, internal }: LookupError, host: string): string {
  if (code === 'ELOOKUPS') return `too many DNS lookups were queued ahead of ${host}`;
  if (internal) return `our resolver is not responding (DNS: ${code}), so ${host} could not be looked up`;
  const fault = faultOf({ code, step: 'lookup' });
  if (fault === 'receiver') return `${host} has no address (DNS: ${code})`;
  return `the name server of ${host} does not respond properly (DNS: ${code})`;
}

/** The sentence for a process that could not have seen a response: it was suspended, or busy with something else. */
export function stallMessage(host: string, lateMs: number): string {
  return `this process was stalled for ${duration(Math.round(lateMs / 100) * 100)} while calling ${host}`;
}

/** The sentence for a receiver that sends informational responses again and again. */
export function informationalMessage(host: string, most: number): string {
  return `${host} sent more than ${most} informational responses (HTTP 1xx) and no final one`;
}

type Sentence = (host: string, connectTimeoutMs: number, code: string) => string;

const untrusted: Sentence = (host) => `TLS certificate of ${host} is not from a trusted authority`;
const selfSigned: Sentence = (host) => `TLS certificate of ${host} is self-signed`;
const unproven: Sentence = (host) =>
  `${host} does not send its intermediate certificate, or its certificate is not from a trusted authority`;
const refusedHandshake: Sentence = (host) =>
  `${host} refused the TLS handshake: no common cipher, or it requires a client certificate`;
const needsCertificate: Sentence = (host) =>
  `${host} requires a client certificate, which Waybill does not have`;
const oldTls: Sentence = (host) => `${host} only speaks a version of TLS that is too old (1.2 is required)`;
const closed: Sentence = (host) => `${host} closed the connection without responding`;
const unreachable: Sentence = (host, _, code) => `${host} cannot be reached (${code})`;
const noConnection: Sentence = (host, ms) => `no connection to ${host} within ${duration(ms)}`;

const SENTENCES: Readonly<Record<string, Sentence>> = {
  ECONNREFUSED: (host) => `${host} refused the connection`,
  ECONNRESET: (host) => `${host} reset the connection`,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  ETIMEDOUT: noConnection,
  UND_ERR_CONNECT_TIMEOUT: noConnection,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  EADDRNOTAVAIL: unreachable,
  CERT_HAS_EXPIRED: (host) => `TLS certificate of ${host} has expired`,
  CERT_NOT_YET_VALID: (host) => `TLS certificate of ${host} is not valid yet`,
  CERT_REVOKED: (host) => `TLS certificate of ${host} has been revoked`,
  ERR_TLS_CERT_ALTNAME_INVALID: (host) => `TLS certificate of ${host} does not match its host name`,
  DEPTH_ZERO_SELF_SIGNED_CERT: selfSigned,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unproven,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ERR_SSL_WRONG_VERSION_NUMBER: (host) => `${host} does not speak TLS on this port`,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: (host) => `${host} does not speak TLS on this port`,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: needsCertificate,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: oldTls,
  ERR_SSL_UNSUPPORTED_PROTOCOL: oldTls,
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: (host) => `${host} does not speak HTTP/1.1, only HTTP/2`,
  // In TLS 1.2 a receiver also answers so if it misses a client certificate.
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: refusedHandshake,
  // The same in later versions of OpenSSL.
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': refusedHandshake,
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: (host) => `${host} does not know this host name (TLS SNI)`,
  ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR: (host) =>
    `${host} failed in the TLS handshake (its alert: internal error), as if it did not know this host name`,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: (host) =>
    `${host} did not respond with valid HTTP: its body does not have the length that Content-Length says`,
  UND_ERR_HEADERS_OVERFLOW: (host) => `${host} sent headers that are too large`,
};

/** Of several errors (one per address tried), the first is used. */
function firstOf(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
}

/** The code of an error, or of what caused it; undici wraps a socket's error. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const ownCode = 'code' in error && typeof error.code === 'string' ? error.code : null;
  if (ownCode !== null && SENTENCES[ownCode] !== undefined && ownCode !== 'UND_ERR_SOCKET') return ownCode;
  const inner = error.cause instanceof Error ? codeOf(error.cause) : null;
  return inner !== null && inner !== 'unknown error' ? inner : (ownCode ?? 'unknown error');
}

/** "15 s", "250 ms", "2.5 s". */
function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${milliseconds / 1000} s`;
}
