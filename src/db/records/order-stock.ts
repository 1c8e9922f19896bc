/**
 * What the transitions of an order do to stock.
 *
 * Units are reserved from `received` until the order leaves: in `received`, `processing`, `packed` and
 * `waitingForCarrier`. Entering these statuses reserves, or is refused with 409 when any product is short; a change of the
 * lines there changes the reservation the same way. Every way out but one frees everything: cancellation, and also
 * `suspended` and `productsNotAvailable`, because an order that does not go on must not keep units from those that do;
 * it reserves again when it becomes `received` again. The one is `onTheWay`, which consumes: one movement per line.
 * What comes back afterwards comes back through a return or a correction.
 */
import type { OrderRecord } from '../../domain/order/schema.ts';
import type { OrderStatus } from '../../domain/order/status.ts';
import { unchanged } from '../../domain/unchanged.ts';
import type { SideEffects } from './entity-mapping.ts';
import { stockOf } from './staged-stock.ts';
import { consumeStock, reserveStock, type Units } from './stock.ts';

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

export const orderStock: SideEffects<OrderRecord> = {
  due({ before, after }) {
    if (after.status === 'onTheWay') return before?.status !== 'onTheWay';
    return !unchanged(needs(before), needs(after));
  },
  async stage(work, { after }) {
    const { eshopOrderId, status, orderProducts } = after;
    if (status === 'onTheWay') await consumeStock(work, eshopOrderId, orderProducts);
    else await reserveStock(work, eshopOrderId, needs(after));
  },
  async prepare(work, records) {
    const stock = stockOf(work);
    const ids = records.map(({ eshopOrderId }) => eshopOrderId);
    await stock.readReservations(ids);
    return [
      ...ids.flatMap((id) => [...stock.reserved(id).keys()]),
      ...records.flatMap(({ orderProducts }) => orderProducts.map(({ sku }) => sku)),
    ];
  },
};
