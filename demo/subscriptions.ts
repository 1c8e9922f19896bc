/** The demonstration's own webhooks: one for all kinds of event and one per scene, created before the day. */
import * as v from 'valibot';
import { type EventType, eventTypeNames, packingListEventTypes } from '../src/domain/event-types.ts';
import { capital } from '../src/domain/text.ts';
import type { Client } from './client.ts';
import type { Scene } from './scenes.ts';
import type { Open } from './waiting.ts';

/** A webhook of the demonstration. */
export interface Subscription {
  readonly id: number;
  readonly secret: string;
}

/** A webhook of a scene. */
export interface SceneSubscription extends Subscription {
  readonly kind: EventType;
  readonly scene: Scene;
  /** By the clock of the instance. */
  readonly registeredAt: string;
}

/** In each description, by which the webhooks are found again; its first line is the name that the console shows. */
const MARK = 'made by waybill demo';

const createdSchema = v.object({ id: v.number(), secret: v.string(), registeredAt: v.string() });
const deliverySchema = v.array(v.object({ lastError: v.nullable(v.string()) }));
const webhooksSchema = v.array(
  v.object({ id: v.number(), active: v.boolean(), description: v.nullable(v.string()) }),
);

async function create(
  client: Client,
  base: string,
  {
    path,
    kinds,
    active,
    description,
  }: Readonly<Record<'path' | 'description', string>> &
    Pick<Scene, 'active'> & { readonly kinds: readonly EventType[] },
) {
  const [webhookType, ...additionalTypes] = kinds;
  const body = {
    url: `${base.replace(/\/+$/, '')}/${path}`,
    webhookType,
    additionalTypes,
    active,
    method: 'POST',
    payloadVersion: 'v21',
    description,
    ...(kinds.some((kind) => packingListEventTypes.includes(kind))
      ? { parameters: { withPackingLists: true } }
      : {}),
  };
  // Not aborted by the signal: a webhook must be known to be removed.
  const { data } = await client.send({ by: 'shop', method: 'POST', path: '/v21/webhooks', body });
  return v.parse(createdSchema, data);
}

/** Registers one webhook for all kinds, at `<base>/all`. */
export async function subscribe(client: Client, base: string, signal: AbortSignal): Promise<Subscription> {
  signal.throwIfAborted();
  return await create(client, base, {
    path: 'all',
    kinds: eventTypeNames,
    active: true,
    description: `Everything\n${MARK}`,
  });
}

/**
 * Registers a webhook per scene at `<base>/<name of the scene>`.
 * @param made called with each, so that those created before a failure can be removed
 */
export async function subscribeScenes(
  client: Client,
  base: string,
  scenes: readonly Scene[],
  {
    made,
    signal,
  }: { readonly made: (subscription: SceneSubscription) => void; readonly signal: AbortSignal },
): Promise<void> {
  for (const scene of scenes) {
    signal.throwIfAborted();
    const { name, kind, active, title } = scene;
    const created = await create(client, base, {
      path: name,
      kinds: [kind],
      active,
      description: `${capital(title)}\n${MARK}`,
    });
    made({ scene, kind, ...created });
  }
}

async function listWebhooks(client: Client, signal: AbortSignal) {
  const { data } = await client.send({ by: 'shop', method: 'GET', path: '/v21/webhooks' }, signal);
  return v.parse(webhooksSchema, data);
}

/** How many webhooks of the e-shop are active. */
export async function countActive(client: Client, signal: AbortSignal): Promise<number> {
  return (await listWebhooks(client, signal)).filter(({ active }) => active).length;
}

/**
 * Webhooks left by earlier demonstrations.
 * @param which all of them, or only those that no longer deliver anything
 */
export async function findLeftovers(
  client: Client,
  which: 'all' | 'inactive',
  signal: AbortSignal,
): Promise<readonly Pick<Subscription, 'id'>[]> {
  const webhooks = await listWebhooks(client, signal);
  return webhooks.filter(
    ({ active, description }) => description?.includes(MARK) && (which === 'all' || !active),
  );
}

/**
 * Removes webhooks; open deliveries are canceled with them.
 * @returns how many are left, and why the first of them could not be removed
 */
export async function unsubscribe(
  client: Client,
  subscriptions: readonly Pick<Subscription, 'id'>[],
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

/** The latest deliveries of a webhook in a state. @param items at most this many */
export function deliveriesOf(
  client: Client,
  { id }: Pick<Subscription, 'id'>,
  state: string,
  { items = 1, signal }: { readonly items?: number; readonly signal?: AbortSignal | undefined },
) {
  const path = `/v21/webhooks/${id}/deliveries?items=${items}&state=${state}`;
  return client.send({ by: 'shop', method: 'GET', path }, signal);
}

/** How many deliveries of a webhook are in a state. */
export async function countOf(
  client: Client,
  subscription: Pick<Subscription, 'id'>,
  state: string,
  signal?: AbortSignal,
): Promise<number> {
  const { pagination } = await deliveriesOf(client, subscription, state, { signal });
  return pagination?.totalCount ?? 0;
}

/** The number of delivered deliveries of each kind, from the delivery log. */
export async function deliveredByLog(
  client: Client,
  subscriptions: readonly Pick<Subscription, 'id'>[],
  signal: AbortSignal,
): Promise<Map<EventType, number>> {
  const counts = new Map<EventType, number>();
  for (const { id } of subscriptions) {
    for (const kind of eventTypeNames) {
      const path = `/v21/deliveries?webhookId=${id}&webhookType=${kind}&state=delivered&items=1`;
      const { pagination } = await client.send({ by: 'shop', method: 'GET', path }, signal);
      counts.set(kind, (counts.get(kind) ?? 0) + (pagination?.totalCount ?? 0));
    }
  }
  return counts;
}

/** The open deliveries, from the delivery log. */
export async function openByLog(
  client: Client,
  subscriptions: readonly Subscription[],
  signal?: AbortSignal,
): Promise<Open> {
  let waiting = 0;
  let lastError: string | null = null;
  for (const subscription of subscriptions) {
    waiting += await countOf(client, subscription, 'pending', signal);
    const { data } = await deliveriesOf(client, subscription, 'retrying', { signal });
    lastError ??= v.parse(deliverySchema, data)[0]?.lastError ?? null;
  }
  return { waiting, lastError };
}
