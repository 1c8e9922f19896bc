/** Deliveries of several e-shops, found with the queries that list an e-shop's own deliveries. */
import pLimit from 'p-limit';
import type { Pool } from '../connection/pool.ts';
import { isOpen } from '../predicates.ts';
import { listAllWebhooks } from '../webhooks/all-webhooks.ts';
import { endOfList, listAllDeliveries } from './all-deliveries.ts';
import type { AllDeliveriesFilter } from './delivery-filter.ts';
import { type DeliveryLogRow, selectDeliveries } from './delivery-log.ts';

interface OperatorsFilter extends Omit<AllDeliveriesFilter, 'among'> {
  readonly eshopId?: number | undefined;
  /** Finds only deliveries of these e-shops that also meet the other conditions. */
  readonly among?: readonly number[] | undefined;
  /** The host that their webhooks call now. */
  readonly receiver?: string | undefined;
  /** The id of a delivery: finds only deliveries that were created before it. */
  readonly before?: string | undefined;
}

export interface OperatorsDelivery extends DeliveryLogRow {
  readonly eshopId: number;
}

interface Scope {
  readonly eshopId: number;
  readonly webhookIds?: readonly number[];
}

/** The maximum number of webhooks of one receiver: more than any real one has. */
const MAX_WEBHOOKS_LISTED = 10_000;

/** E-shops queried at the same time: others need connections too. */
const CONCURRENCY = 3;

/** The e-shops that may have matching deliveries; the others are not queried. */
async function scopesOf(sql: Pool, filter: OperatorsFilter): Promise<Scope[]> {
  const { eshopId, among, webhookId, receiver, state } = filter;
  if (webhookId !== undefined || receiver !== undefined) {
    const which = { id: webhookId, eshopId, among, receiver };
    const found = await listAllWebhooks(sql, which, MAX_WEBHOOKS_LISTED);
    const byEshop = new Map<number, number[]>();
    for (const webhook of found) {
      const ids = byEshop.get(webhook.eshopId) ?? [];
      byEshop.set(webhook.eshopId, ids);
      ids.push(webhook.id);
    }
    return [...byEshop].map(([of, webhookIds]) => ({ eshopId: of, webhookIds }));
  }
  const open = state === 'pending' || state === 'retrying' || state === 'held';
  return await sql<Scope[]>`
    select e.id as eshop_id from eshops e
    where exists (
      select from webhooks w where w.eshop_id = e.id and w.deleted_at is null
        ${open ? sql`and exists (select from deliveries d where d.webhook_id = w.id and ${isOpen(sql)})` : sql``})
      ${eshopId === undefined ? sql`` : sql`and e.id = ${eshopId}`}
      ${among === undefined ? sql`` : sql`and e.id = any(${[...among]}::int[])`}
    order by e.id`;
}

/** Up to `limit` deliveries, newest first, without those of deleted webhooks. */
export async function findDeliveries(sql: Pool, filter: OperatorsFilter, limit: number) {
  const { webhookType, entityId, state, status, since, until, before } = filter;
  const found: OperatorsDelivery[] = [];
  await pLimit(CONCURRENCY).map(await scopesOf(sql, filter), async ({ eshopId, webhookIds }) => {
    const filters = { among: webhookIds, webhookType, entityId, state, status, since, until };
    const page = { limit, offset: 0, beforeId: before };
    const afterId = await endOfList(sql, eshopId, filters, page);
    const rows = await listAllDeliveries(sql, eshopId, filters, { ...page, afterId });
    found.push(...rows.map((row) => ({ eshopId, ...row })));
  });
  return found.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
}

/**
 * Up to `limit` deliveries that expired because of a failure of Waybill itself, the last one first; without those of
 * deleted webhooks, which cannot be redelivered.
 */
export async function findWindowsLost(sql: Pool, eshopId: number | undefined, limit: number) {
  return await sql<OperatorsDelivery[]>`
    with lost as materialized (
      select d.id from deliveries d join webhooks w on w.id = d.webhook_id and w.deleted_at is null
      where d.state = 'expired' and d.window_lost
        ${eshopId === undefined ? sql`` : sql`and d.eshop_id = ${eshopId}`}
      order by d.finished_at desc limit ${limit})
    select l.*, w.eshop_id from (${selectDeliveries(sql)} where d.id in (select id from lost)) l
    join webhooks w on w.id = l.webhook_id order by l.finished_at desc`;
}

/** Whether an expired delivery lost its window to a failure of Waybill itself; false if unknown. */
export async function wasWindowLost(sql: Pool, deliveryId: string): Promise<boolean> {
  const [row] = await sql<{ windowLost: boolean }[]>`
    select window_lost from deliveries where id = ${deliveryId} and state = 'expired'`;
  return row?.windowLost ?? false;
}
