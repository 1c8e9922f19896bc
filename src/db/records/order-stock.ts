/**
 * The effects of an order's transitions on stock.
 *
 * Units are reserved from `received` until the order leaves: in `received`, `processing`, `packed` and
 * `waitingForCarrier`. Entering these statuses reserves units, or is refused with 409 if any product is short; a
 * change to the lines there changes the reservation the same way. Entering `onTheWay` consumes the units: one
 * movement per line. Every other way out frees them all: cancellation, and also `suspended` and
 * `productsNotAvailable`, since a stalled order must not keep units from others; it reserves again when it becomes
 * `received` again. Units come back later only through a return or a correction.
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

/** The units that the order needs reserved. */
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
