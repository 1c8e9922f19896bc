/**
 * The failure of an attempt as one sentence for people. It names the host (with an unusual port), and never path, query, header or
 * secret.
 */
import { errors } from 'undici';
import { RefusedDestination } from './connector.ts';
import { faultOf } from './fault.ts';
import { LookupError } from './resolver.ts';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The sentence for an answer that is not a 2xx: "HTTP 503 from shop.example after 212 ms". */
export function statusSentence(status: number, host: string, durationMs: number): string {
  if (REDIRECTS.has(status)) return `redirect (HTTP ${status}) from ${host}: redirects are not followed`;
  if (status === 410) return `HTTP 410 (gone) from ${host} after ${durationMs} ms`;
  return `HTTP ${status} from ${host} after ${durationMs} ms`;
}

/** The sentence for a receiver that did not answer in time: "no response from shop.example within 15 s". */
export function timeoutSentence(host: string, timeoutMs: number): string {
  return `no response from ${host} within ${duration(timeoutMs)}`;
}

/** The sentence for a URL that cannot be called at all; it does not quote the URL. */
export const INVALID_URL = 'the URL of the webhook is not an absolute http or https URL';

/**
 * The sentence for an error of DNS, connection, TLS or HTTP parsing, made from the error's code: its message may hold anything and is
 * not repeated.
 */
export function errorSentence(error: unknown, host: string, connectTimeoutMs: number): string {
  const cause = firstOf(error);
  if (cause instanceof RefusedDestination) {
    const hostname = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
    // The address behind a name is not told: otherwise registering webhooks would reveal our internal name service.
    if (hostname !== cause.address) return `the address of ${host} is not allowed`;
    return `destination ${cause.address} ${cause.reason}`;
  }
  if (cause instanceof LookupError) return lookupSentence(cause, host);
  // undici's message for an unrequested 101.
  if (cause instanceof errors.SocketError && cause.message === 'bad upgrade')
    return `${host} switched protocols (HTTP 101) instead of responding`;
  const code = codeOf(cause);
  const sentence = SENTENCES[code];
  if (sentence !== undefined) return sentence(host, connectTimeoutMs, code);
  // The parser's errors do not always carry a code.
  if (cause instanceof Error && cause.name === 'HTTPParserError')
    return `${host} did not respond with valid HTTP`;
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) {
    return `TLS connection to ${host} failed (${code})`;
  }
  // The client's own codes mean nothing to people: it did not understand the response.
  if (code.startsWith('UND_ERR_') || code.startsWith('ERR_'))
    return `${host} did not respond with valid HTTP`;
  return `connection to ${host} failed (${code})`;
}

/** The sentence for a name without an address. */
function lookupSentence({ code, internal }: LookupError, host: string): string {
  if (code === 'ELOOKUPS') return `too many DNS lookups were queued ahead of ${host}`;
  if (internal) return `our resolver is not responding (DNS: ${code}), so ${host} could not be looked up`;
  const fault = faultOf({ code, step: 'lookup' });
  if (fault === 'receiver') return `${host} has no address (DNS: ${code})`;
  return `the name server of ${host} does not respond properly (DNS: ${code})`;
}

/** The sentence for a process that could not have seen a response: it was suspended, or busy with something else. */
export function stallSentence(host: string, lateMs: number): string {
  return `this process was stalled for ${duration(Math.round(lateMs / 100) * 100)} while calling ${host}`;
}

/** The sentence for a receiver that sends informational responses again and again. */
export function informationalSentence(host: string, most: number): string {
  return `${host} sent more than ${most} informational responses (HTTP 1xx) and no final one`;
}

type Sentence = (host: string, connectTimeoutMs: number, code: string) => string;

const untrusted: Sentence = (host) => `TLS certificate of ${host} is not from a trusted authority`;
const selfSigned: Sentence = (host) => `TLS certificate of ${host} is self-signed`;
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
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ERR_SSL_WRONG_VERSION_NUMBER: (host) => `${host} does not speak TLS on this port`,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: (host) => `${host} does not speak TLS on this port`,
  UND_ERR_HEADERS_OVERFLOW: (host) => `${host} sent headers that are too large`,
};

/** Of several errors (one per address tried), the first is used. */
function firstOf(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
}

/** The code of an error, or of what caused it; undici wraps a socket's error. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const own = 'code' in error && typeof error.code === 'string' ? error.code : null;
  if (own !== null && SENTENCES[own] !== undefined && own !== 'UND_ERR_SOCKET') return own;
  const inner = error.cause instanceof Error ? codeOf(error.cause) : null;
  return inner !== null && inner !== 'unknown error' ? inner : (own ?? 'unknown error');
}

/** "15 s", "250 ms", "2.5 s". */
function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${milliseconds / 1000} s`;
}
