/** What goes on the wire for one attempt: address, path, headers, body. */
import { type RequestTarget, requestTarget } from '../domain/request-target.ts';
import { serviceSignature, standardSignature } from './signature.ts';

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
  /** The webhook's id. */
  readonly webhookId: number;
  /** The same at every webhook, in redeliveries and recoveries. */
  readonly eventId: string;
  /** The webhook type of the event, `CREATE_ORDER` … */
  readonly eventType: string;
  /** The place of the event among those of its record: from 1, rising, with gaps. */
  readonly sequence: number;
  /** When the event happened: never before the one before it of the same record. */
  readonly happenedAt: Date;
  /** What a GET webhook gets appended to its URL. */
  readonly entityId: string;
  /** 1 for the first attempt. */
  readonly number: number;
  /** JSON text for POST, or its bytes in UTF-8, which several requests may share; null for GET. */
  readonly body: string | Uint8Array | null;
  /** When it is made, by the clock that all times of deliveries are of: the time in its signatures. */
  readonly at: Date;
  /** Marks a test delivery, or the delivery of a test event (`X-Service-Test: true`): there is no such record. */
  readonly test?: boolean;
  /** The place in a trace at which it is made. Not signed: whatever stands between may go on with the trace. */
  readonly traceparent?: string;
}

/** An attempt ready to be sent. */
export interface WireRequest extends RequestTarget {
  readonly method: 'POST' | 'GET';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

/**
 * @param at the moment of signing
 * @param version Waybill's own, for `User-Agent`
 * @throws TypeError when the URL is not absolute
 */
export function buildRequest(request: Omit<AttemptRequest, 'at'>, at: Date, version: string): WireRequest {
  const { method, secrets, deliveryId, eventId, eventType, sequence, webhookId, test = false } = request;
  const target = requestTarget(request.url, method === 'GET' ? request.entityId : null);
  const body = method === 'POST' ? (request.body ?? '') : null;
  const timestamp = Math.floor(at.getTime() / 1000);
  const headers: Record<string, string> = {
    'user-agent': `Waybill/${version}`,
    'x-service-signature': serviceSignature({
      secrets,
      timestamp,
      deliveryId,
      eventId,
      eventType,
      sequence,
      webhookId,
      test,
      method,
      target: target.path,
      body: body ?? '',
    }),
    'x-service-event': eventType,
    'x-service-event-id': eventId,
    'x-service-event-time': request.happenedAt.toISOString(),
    'x-service-sequence': String(sequence),
    'x-service-webhook': String(webhookId),
    'x-service-delivery': deliveryId,
    'x-service-attempt': String(request.number),
    'webhook-id': deliveryId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standardSignature({ secrets, timestamp, id: deliveryId, body: body ?? '' }),
  };
  if (body !== null) headers['content-type'] = 'application/json';
  if (test) headers['x-service-test'] = 'true';
  if (request.traceparent !== undefined) headers.traceparent = request.traceparent;
  return { ...target, method, headers, body };
}
