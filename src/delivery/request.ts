/** The request of one attempt as sent: address, path, headers, body. */
import { type RequestTarget, requestTarget } from '../domain/request-target.ts';
import { type SignatureInput, serviceSignature, standardSignature } from './signature.ts';

/** The signed parts, except those it has in another form, and the rest. */
export interface AttemptRequest extends Omit<SignatureInput, 'timestamp' | 'test' | 'target' | 'body'> {
  /** The owner of the webhook: connections and lookups of one e-shop never wait for another's. */
  readonly eshopId: number;
  /** The webhook's URL as registered. */
  readonly url: string;
  /** The headers that the e-shop adds for its gateway, in its own spelling. Not signed. */
  readonly staticHeaders: Readonly<Record<string, string>>;
  /** When the event happened: never before the previous event of the same record. */
  readonly happenedAt: Date;
  /** The identifier appended to the URL of a GET webhook. */
  readonly entityId: string;
  /** 1 for the first attempt. */
  readonly number: number;
  /** How long this attempt may take, if less than the sender allows: its ownership is based on this. */
  readonly timeoutMs?: number;
  /** JSON text for POST, or its bytes in UTF-8, which several requests may share; null for GET. */
  readonly body: string | Uint8Array | null;
  /** When it is made, by this machine's clock: the time in its signatures. */
  readonly at: Date;
  /** Marks a test delivery, or the delivery of a test event (`X-Service-Test: true`): there is no such record. */
  readonly test?: boolean;
  /** In an examination: values that are signed in place of those sent. */
  readonly signedAs?: Partial<Pick<AttemptRequest, 'sequence' | 'entityId' | 'body'>>;
  /** In an examination: the request has no signature. */
  readonly unsigned?: true;
  /** The position of the request in its trace. Not signed: proxies on the way may continue the trace. */
  readonly traceparent?: string;
}

/** An attempt ready to be sent. */
export interface WireRequest extends RequestTarget {
  readonly method: 'POST' | 'GET';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

/** The `User-Agent` of every request. @param version Waybill's own */
export function userAgentOf(version: string): string {
  return `Waybill/${version}`;
}

/** @param version Waybill's own, for `User-Agent` @throws TypeError if the URL is not absolute */
export function buildRequest(request: AttemptRequest, version: string): WireRequest {
  const { method, deliveryId, staticHeaders } = request;
  const target = targetOf(request);
  const body = bodyOf(request);
  const timestamp = Math.floor(request.at.getTime() / 1000);
  const ownNames = Object.keys(staticHeaders);
  const headers: Record<string, string> = { 'user-agent': userAgentOf(version) };
  // The log keeps only the beginning of a response, so compression is of no use. An e-shop's own header is sent.
  if (!ownNames.some((name) => name.toLowerCase() === 'accept-encoding'))
    headers['accept-encoding'] = 'identity';
  headers['x-service-event'] = request.eventType;
  headers['x-service-event-id'] = request.eventId;
  headers['x-service-event-time'] = request.happenedAt.toISOString();
  headers['x-service-sequence'] = String(request.sequence);
  headers['x-service-origin'] = request.origin;
  if (request.changed !== null) headers['x-service-changed'] = request.changed;
  headers['x-service-webhook'] = String(request.webhookId);
  headers['x-service-delivery'] = deliveryId;
  headers['x-service-attempt'] = String(request.number);
  headers['webhook-id'] = deliveryId;
  headers['webhook-timestamp'] = String(timestamp);
  if (request.unsigned !== true) {
    const { signedAs } = request;
    if (signedAs === undefined) sign(headers, request, target.path, body, timestamp);
    else {
      const signed = { ...request, ...signedAs };
      sign(headers, signed, targetOf(signed).path, bodyOf(signed), timestamp);
    }
  }
  if (body !== null) headers['content-type'] = 'application/json';
  if (request.test === true) headers['x-service-test'] = 'true';
  if (request.traceparent !== undefined) headers.traceparent = request.traceparent;
  for (const name of ownNames) {
    const value = staticHeaders[name];
    // Our own names are refused at registration, except `traceparent`, which is not always sent.
    if (value !== undefined && !Object.hasOwn(headers, name.toLowerCase())) headers[name] = value;
  }
  return { ...target, method, headers, body };
}

function targetOf({ url, method, entityId }: Pick<AttemptRequest, 'url' | 'method' | 'entityId'>) {
  return requestTarget(url, method === 'GET' ? entityId : null);
}

function bodyOf({ method, body }: Pick<AttemptRequest, 'method' | 'body'>): string | Uint8Array | null {
  return method === 'POST' ? (body ?? '') : null;
}

/** Adds the signatures. @param path of the request line */
function sign(
  headers: Record<string, string>,
  request: AttemptRequest,
  path: string,
  sent: string | Uint8Array | null,
  timestamp: number,
): void {
  const { secrets, signingKeys, deliveryId, test = false } = request;
  const body = sent ?? '';
  headers['x-service-signature'] = serviceSignature({ ...request, test, timestamp, target: path, body });
  headers['webhook-signature'] = standardSignature({ secrets, signingKeys, timestamp, deliveryId, body });
}
