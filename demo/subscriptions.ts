/** The demonstration's own webhooks: one per kind of event, made before the day and removed after it. */
import * as v from 'valibot';
import { type EventType, eventTypeNames, packingListEventTypes } from '../src/domain/event-types.ts';
import type { Client } from './client.ts';
import type { Open } from './waiting.ts';

/** A webhook of the demonstration. */
export interface Subscription {
  readonly id: number;
  readonly kind: EventType;
  readonly secret: string;
}

const createdSchema = v.object({ id: v.number(), secret: v.string() });
const deliverySchema = v.array(v.object({ lastError: v.nullable(v.string()) }));

/**
 * Registers one webhook per kind at `<base>/<kind>`.
 * @param made called with each, so that those made before a failure can be removed
 */
export async function subscribe(
  client: Client,
  base: string,
  made: (subscription: Subscription) => void,
  signal: AbortSignal,
): Promise<void> {
  for (const kind of eventTypeNames) {
    signal.throwIfAborted();
    const body = {
      url: `${base.replace(/\/+$/, '')}/${kind}`,
      webhookType: kind,
      active: true,
      method: 'POST',
      payloadVersion: 'v21',
      description: 'made by waybill demo',
      ...(packingListEventTypes.includes(kind) ? { parameters: { withPackingLists: true } } : {}),
    };
    // Not cut off by the signal: what was made has to be known to be removed.
    const { data } = await client.send({ by: 'shop', method: 'POST', path: '/v21/webhooks', body });
    made({ kind, ...v.parse(createdSchema, data) });
  }
}

/**
 * Removes webhooks; open deliveries are canceled with them.
 * @returns why the first one that is left could not be removed, and how many are left
 */
export async function unsubscribe(
  client: Client,
  subscriptions: readonly Subscription[],
): Promise<{ readonly left: number; readonly reason: string }> {
  const removals = await Promise.allSettled(
    subscriptions.map(({ id }) => client.send({ by: 'shop', method: 'DELETE', path: `/v21/webhooks/${id}` })),
  );
  const refused = removals.filter((removal) => removal.status === 'rejected');
  return {
    left: refused.length,
    reason: refused[0]?.reason instanceof Error ? refused[0].reason.message : '',
  };
}

const deliveriesOf = (client: Client, { id }: Subscription, state: string, signal?: AbortSignal) =>
  client.send(
    { by: 'shop', method: 'GET', path: `/v21/webhooks/${id}/deliveries?items=1&state=${state}` },
    signal,
  );

/** How many deliveries of each kind the delivery log says have been delivered. */
export async function deliveredByLog(
  client: Client,
  subscriptions: readonly Subscription[],
  signal: AbortSignal,
): Promise<Map<EventType, number>> {
  const counts = new Map<EventType, number>();
  for (const subscription of subscriptions) {
    const { pagination } = await deliveriesOf(client, subscription, 'delivered', signal);
    counts.set(subscription.kind, pagination?.totalCount ?? 0);
  }
  return counts;
}

/** What the delivery log says about those that are open. */
export async function openByLog(
  client: Client,
  subscriptions: readonly Subscription[],
  signal?: AbortSignal,
): Promise<Open> {
  let waiting = 0;
  let lastError: string | null = null;
  for (const subscription of subscriptions) {
    const { pagination } = await deliveriesOf(client, subscription, 'pending', signal);
    waiting += pagination?.totalCount ?? 0;
    const { data } = await deliveriesOf(client, subscription, 'retrying', signal);
    lastError ??= v.parse(deliverySchema, data)[0]?.lastError ?? null;
  }
  return { waiting, lastError };
}
