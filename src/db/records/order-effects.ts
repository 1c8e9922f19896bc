/**
 * What a change of an order costs beside its own row, in the same transaction. The one place where such effects hang:
 * the release timer here, stock in `order-stock.ts`.
 * @module
 */
import type { OrderRecord } from '../../domain/order/schema.ts';
import type { Sql } from '../pool.ts';
import { orderMovesStock } from './order-stock.ts';

/** A write of an order. */
export interface OrderChange {
  readonly eshopId: number;
  /** Null on creation. */
  readonly before: OrderRecord | null;
  readonly after: OrderRecord;
  /** True where the release timer itself made the change. */
  readonly byTimer: boolean;
}

/**
 * Writes what follows.
 * @returns whether the relay has something to do
 * @throws Problem 409 when an effect is impossible; the whole write is undone then
 */
export async function orderFollows(tx: Sql, change: OrderChange): Promise<boolean> {
  const moved = await orderMovesStock(tx, change.eshopId, change.before, change.after);
  const told = await tellTimer(tx, change);
  return moved || told;
}

async function tellTimer(tx: Sql, change: OrderChange): Promise<boolean> {
  if (change.byTimer || !concernsTimer(change)) return false;
  const { eshopId, after } = change;
  await tx`
    insert into outbox (kind, eshop_id, eshop_order_id)
    values ('orderReleaseChanged', ${eshopId}, ${after.eshopOrderId})`;
  return true;
}

/** True when a pre-order's timer must be set, moved or ended. A pre-order without a time has none. */
function concernsTimer({ before, after }: OrderChange): boolean {
  const due = (order: OrderRecord | null) => (order?.status === 'preOrder' ? order.releaseAt : null);
  return due(before) !== due(after);
}
