/**
 * Orders in the database.
 * @module
 */
import { orderEntry } from '../../domain/catalogue.ts';
import type { OrderRecord } from '../../domain/order/schema.ts';
import { enqueueReleaseChange } from '../outbox/changes.ts';
import type { Family } from './family.ts';
import { moveOrderStock } from './order-stock.ts';

/** Orders, changed by anyone but their release timer. */
export const orders: Family<OrderRecord> = {
  entry: orderEntry,
  table: 'orders',
  lines: { table: 'order_products', field: 'orderProducts', of: (order) => order.orderProducts },
  async effects(tx, written) {
    await moveOrderStock(tx, written);
    const { eshopId, before, after } = written;
    if (dueTime(before) !== dueTime(after)) await enqueueReleaseChange(tx, eshopId, after.eshopOrderId);
  },
};

/** Orders, changed by their release timer, which needs no notice of its own changes. */
export const ordersByTimer: Family<OrderRecord> = { ...orders, effects: moveOrderStock };

/** When the timer of a pre-order goes off; null where there is none to set. */
function dueTime(order: OrderRecord | null): string | null {
  return order?.status === 'preOrder' ? order.releaseAt : null;
}
