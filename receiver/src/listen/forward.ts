/** Makes the request for an event as an attempt of the service would, and sends it. */
import type { ListedEvent, WaybillApi } from '../api.ts';
import { type Response, send } from '../send.ts';
import { encoded, sign } from '../testing.ts';

/** A webhook that exists only here, not in the service. */
export interface LocalWebhook {
  /** On GET the identifier is appended. */
  readonly url: string;
  readonly method: 'POST' | 'GET';
  readonly withPackingLists: boolean;
  readonly secret: string;
  /** The private key that signs too; null if there is none. */
  readonly privateKey: string | null;
  /** The value of `X-Service-Webhook`. */
  readonly id: number;
  /** Added to every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The time limit of one request, in milliseconds. */
  readonly timeoutMs: number;
}

/** An event, and the body for it. */
export interface Prepared {
  readonly event: ListedEvent;
  /** Exactly as it is sent; null on GET. */
  readonly body: string | null;
  /** The same id, however often it is sent. */
  readonly deliveryId: string;
}

/** @returns null if the event is no longer stored */
export async function prepare(
  api: Pick<WaybillApi, 'event'>,
  { method, withPackingLists }: LocalWebhook,
  event: ListedEvent,
): Promise<Prepared | null> {
  const deliveryId = crypto.randomUUID();
  if (method === 'GET') return { event, body: null, deliveryId };
  const read = await api.event(event.id);
  if (read === null) return null;
  // As the service writes it: a record as read has packing lists, a payload only on request.
  const body = JSON.stringify(read.record, (name, value: unknown) =>
    name === 'packingLists' && !withPackingLists ? undefined : value,
  );
  return { event, body, deliveryId };
}

/** Sends the first attempt. Never rejects. */
export async function forward(
  webhook: LocalWebhook,
  { event, body, deliveryId }: Prepared,
): Promise<Response> {
  const { method, secret, privateKey, timeoutMs } = webhook;
  const url = method === 'GET' ? `${webhook.url}${encoded(event.entityId)}` : webhook.url;
  const headers = await sign({
    secrets: secret,
    privateKeys: privateKey ?? [],
    method,
    url,
    kind: event.webhookType,
    id: deliveryId,
    eventId: event.id,
    sequence: event.sequence,
    webhookId: webhook.id,
    happenedAt: new Date(event.createdAt),
    origin: event.origin,
    changed: event.changed?.split(',') ?? [],
    test: event.test,
    ...(body === null ? {} : { body }),
  });
  const all = { ...webhook.headers, ...headers, 'user-agent': 'waybill-receiver listen' };
  return await send({ url, method, headers: all, body, timeoutMs });
}
