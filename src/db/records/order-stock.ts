/**
 * What the transitions of an order do to stock.
 *
 * Units are reserved from `received` until the order leaves: in `received`, `processing`, `packed` and
 * `waitingForCarrier`. Entering these statuses reserves, or is refused with 409 when any product is short; a change of the
 * lines there changes the reservation the same way. Every way out but one frees everything: cancellation, and also
 * `suspended` and `productsNotAvailable`, because an order that does not go on must not keep units from those that do;
 * it reserves again when it becomes `received` again. The one is `onTheWay`, which consumes: one movement per line.
 * What comes back afterwards comes back through a return or a correction.
 * @module
 */
import type { OrderRecord } from '../../domain/order/schema.ts';
import type { OrderStatus } from '../../domain/order/status.ts';
import type { Transaction } from '../transaction.ts';
import type { Written } from './family.ts';
import { consumeStock, reserveStock, type Units } from './stock.ts';
import { unchanged } from './write.ts';

const reserving: ReadonlySet<OrderStatus> = new Set([
  'received',
  'processing',
  'packed',
  'waitingForCarrier',
]);

/** What the order needs reserved. */
function needs(order: OrderRecord | null): Units[] {
  if (order === null || !reserving.has(order.status)) return [];
  return order.orderProducts.map(({ sku, quantity }) => ({ sku, quantity }));
}

/**
 * Changes stock as the write of an order asks for, under the lock of the order's row.
 * @throws Problem 409 when a product is short, naming every SKU
 */
export async function moveOrderStock(
  tx: Transaction,
  { eshopId, before, after }: Written<OrderRecord>,
): Promise<void> {
  const { eshopOrderId, status, orderProducts } = after;
  if (status === 'onTheWay') {
    if (before?.status !== 'onTheWay') await consumeStock(tx, eshopId, eshopOrderId, orderProducts);
    return;
  }
  const needed = needs(after);
  if (!unchanged(needs(before), needed)) await reserveStock(tx, eshopId, eshopOrderId, needed);
}
