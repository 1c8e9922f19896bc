/**
 * Deliveries of all e-shops, found with the queries that each e-shop reads its own with.
 * @module
 */
import { listEshops } from '../db/eshops.ts';
import type { Pool } from '../db/pool.ts';
import { type AllDeliveriesFilter, listAllDeliveries } from '../db/webhooks/all-deliveries.ts';
import { listAllWebhooks } from '../db/webhooks/all-webhooks.ts';
import type { DeliveryLogRow } from '../db/webhooks/delivery-log.ts';

/** Which deliveries; everything is optional. */
export interface OperatorsFilter extends AllDeliveriesFilter {
  readonly eshopId?: number | undefined;
  /** The host that their webhooks call now. */
  readonly receiver?: string | undefined;
}

/** A delivery with its e-shop. */
export interface OperatorsDelivery extends DeliveryLogRow {
  readonly eshopId: number;
}

/** An e-shop, or one of its webhooks. */
interface Place {
  readonly eshopId: number;
  readonly webhookId?: number;
}

/** Webhooks to one receiver: more than anybody has. */
const MOST_WEBHOOKS = 10_000;

async function placesOf(sql: Pool, filter: OperatorsFilter): Promise<Place[]> {
  const { eshopId, webhookId, receiver } = filter;
  if (webhookId !== undefined || receiver !== undefined) {
    const found = await listAllWebhooks(sql, { id: webhookId, eshopId, receiver }, MOST_WEBHOOKS);
    return found.map((webhook) => ({ eshopId: webhook.eshopId, webhookId: webhook.id }));
  }
  return eshopId === undefined ? (await listEshops(sql)).map(({ id }) => ({ eshopId: id })) : [{ eshopId }];
}

/** Up to `limit` deliveries, the newest first. Those of deleted webhooks do not exist here. */
export async function findDeliveries(
  sql: Pool,
  filter: OperatorsFilter,
  limit: number,
): Promise<OperatorsDelivery[]> {
  const { webhookType, entityId, state, since, until } = filter;
  const found: OperatorsDelivery[] = [];
  for (const { eshopId, webhookId } of await placesOf(sql, filter)) {
    const wanted = { webhookId, webhookType, entityId, state, since, until };
    const rows = await listAllDeliveries(sql, eshopId, wanted, { limit, offset: 0 });
    found.push(...rows.map((row) => ({ eshopId, ...row })));
  }
  return found.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
}
