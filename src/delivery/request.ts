/**
 * What goes on the wire for one attempt: address, path, headers, body.
 * @module
 */
import { serviceSignature, standardSignature } from './signature.ts';

/** One attempt as the caller knows it. */
export interface AttemptRequest {
  /** Whose webhook it is: connections and lookups of one e-shop never wait for another's. */
  readonly eshopId: number;
  /** The webhook's URL as registered. */
  readonly url: string;
  readonly method: 'POST' | 'GET';
  /** One or two secrets, newest first. */
  readonly secrets: readonly string[];
  /** The same on every attempt, so that a receiver can drop repeats. */
  readonly deliveryId: string;
  /** The webhook type of the event, `CREATE_ORDER` … */
  readonly eventType: string;
  /** What a GET webhook gets appended to its URL. */
  readonly entityId: string;
  /** 1 for the first attempt. */
  readonly number: number;
  /** JSON text for POST, null for GET. */
  readonly body: string | null;
  /** When it is made, by the clock that all times of deliveries are of: the time in its signatures. */
  readonly at: Date;
  /** Marks a trial delivery (`X-Service-Test: true`). */
  readonly test?: boolean;
}

/** An attempt ready to be sent. */
export interface WireRequest {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Host, with the port where it is not the scheme's own: what messages may show of the URL. */
  readonly host: string;
  /** Path and query exactly as they stand on the request line. */
  readonly path: string;
  readonly method: 'POST' | 'GET';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Percent-encodes everything but the unreserved characters of RFC 3986. */
export function encodeIdentifier(identifier: string): string {
  // A lone surrogate has no UTF-8 form; encodeURIComponent would throw.
  const encoded = encodeURIComponent(identifier.replace(/\p{Surrogate}/gu, '\ufffd'));
  // encodeURIComponent leaves these alone, RFC 3986 reserves them.
  return encoded.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * Where the request goes. A GET webhook's URL gets the identifier appended to its very end (docs/interface.md, D2). It
 * is appended to path and query, not to the text of the URL: behind a URL without a path (`https://shop.example`) an
 * identifier would otherwise become part of the host name.
 * @throws TypeError when `url` is not an absolute URL
 */
export function requestTarget(
  url: string,
  appended: string | null,
): Pick<WireRequest, 'origin' | 'host' | 'path'> {
  const target = new URL(url);
  target.username = '';
  target.password = '';
  target.hash = '';
  const path = target.href.slice(target.origin.length);
  return {
    origin: target.origin,
    host: target.host,
    path: appended === null ? path : path + encodeIdentifier(appended),
  };
}

/**
 * Signs and assembles one attempt.
 * @param at the moment of signing
 * @param version Waybill's own, for `User-Agent`
 * @throws TypeError when the URL is not absolute
 */
export function buildRequest(request: Omit<AttemptRequest, 'at'>, at: Date, version: string): WireRequest {
  const { method, secrets, deliveryId } = request;
  const target = requestTarget(request.url, method === 'GET' ? request.entityId : null);
  const body = method === 'POST' ? (request.body ?? '') : null;
  const timestamp = Math.floor(at.getTime() / 1000);
  const headers: Record<string, string> = {
    'user-agent': `Waybill/${version}`,
    'x-service-signature': serviceSignature({ secrets, timestamp, content: body ?? target.path }),
    'x-service-event': request.eventType,
    'x-service-delivery': deliveryId,
    'x-service-attempt': String(request.number),
    'webhook-id': deliveryId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standardSignature({ secrets, timestamp, id: deliveryId, body: body ?? '' }),
  };
  if (body !== null) headers['content-type'] = 'application/json';
  if (request.test === true) headers['x-service-test'] = 'true';
  return { ...target, method, headers, body };
}
