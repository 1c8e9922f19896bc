/**
 * The changes to an order: pure functions from the record before to the record after. Stock, timers and events are
 * handled in the database.
 */
import * as v from 'valibot';
import { catalogue } from '../catalogue.ts';
import { editsOf, type WriteContext } from '../editing.ts';
import { oneOf } from '../fields.ts';
import { itemsOf } from '../list.ts';
import { conflict } from '../problem.ts';
import { assertMove } from '../status.ts';
import { omitFields } from '../validation.ts';
import { billingFields, isBilledToRecipient, withBilling } from './billing.ts';
import { orderRules, type RuledOrder } from './rules.ts';
import {
  type OrderProduct,
  type OrderProductInput,
  type OrderRecord,
  orderEntries,
  orderInputSchema,
} from './schema.ts';
import { type OrderStatus, orderStatuses, orderTransitions } from './status.ts';

/** In these states the warehouse is fulfilling the order, and the e-shop may change only a few fields. */
const isBeingFulfilled: ReadonlySet<OrderStatus> = new Set([
  'processing',
  'packed',
  'waitingForCarrier',
  'onTheWay',
  'delivered',
  'lost',
  'returningBack',
  'returnedBack',
  'receivedBack',
  'canceled',
]);

/** The fields that the e-shop may still change from `processing` on. */
export const changeableWhileFulfilled: readonly string[] = ['note', 'trackingNumbers', 'orderFiles', 'paid'];

const noBilling = Object.fromEntries(billingFields.map((field) => [field, null]));

/** The new lines, with the packing lists of the lines that they replace (same SKU and lot, in order). */
function keepPackingLists(lines: readonly OrderProductInput[], before: readonly OrderProduct[]) {
  const remaining = [...before];
  return lines.map((line) => {
    const index = remaining.findIndex(({ sku, lot }) => sku === line.sku && lot === line.lot);
    const match = index < 0 ? undefined : remaining.splice(index, 1)[0];
    return { ...line, packingLists: match?.packingLists ?? [] };
  });
}

/** The changes to an order by its e-shop; an update does not change its `status`. */
export const orderEdits = editsOf<OrderRecord, RuledOrder, WriteContext>({
  entry: catalogue.order,
  lines: {
    field: 'orderProducts',
    writable: (lines) =>
      itemsOf(lines).length === 0 ? lines : itemsOf(lines).map((line) => omitFields(line, ['packingLists'])),
  },
  schema: v.pipe(orderInputSchema, v.transform(withBilling)),
  // The status is that of the record, not of the request.
  updateSchema: v.pipe(
    v.strictObject({ ...orderEntries, status: oneOf(orderStatuses) }),
    v.transform(withBilling),
  ),
  rules: orderRules,
  fixed(record, sent) {
    // If the order is billed to the recipient, billing follows the recipient unless the request has a billing field.
    const follows = isBilledToRecipient(record) && !billingFields.some((field) => field in sent);
    return { ...(follows ? noBilling : {}), status: record.status };
  },
  changeable: ({ status }) => (isBeingFulfilled.has(status) ? changeableWhileFulfilled : null),
  apply({ orderProducts: lines, ...fields }, before, { now }) {
    const orderProducts = keepPackingLists(lines, before?.orderProducts ?? []);
    if (before !== null) return { ...before, ...fields, orderProducts };
    const at = now.toISOString();
    const statusHistory = [{ status: fields.status, at, note: null }];
    const times = { createdAt: at, updatedAt: at, deliveredAt: null, canceledAt: null };
    return { ...fields, orderProducts, ...times, statusHistory };
  },
});
/**
 * @param note by the warehouse, kept in the history
 * @throws Problem 409 if the table has no such transition
 */
export function moveOrder(record: OrderRecord, to: OrderStatus, note: string | null, now: Date): OrderRecord {
  assertMove<OrderStatus>(orderTransitions, 'order', record.status, to);
  const at = now.toISOString();
  return {
    ...record,
    status: to,
    deliveredAt: to === 'delivered' ? at : record.deliveredAt,
    canceledAt: to === 'canceled' ? at : record.canceledAt,
    statusHistory: [...record.statusHistory, { status: to, at, note }],
  };
}

/**
 * Releases a pre-order.
 * @throws Problem 409 if it is not a pre-order
 */
export function releaseOrder(record: OrderRecord, now: Date): OrderRecord {
  if (record.status !== 'preOrder')
    throw conflict(`The order is ${record.status}: only a preOrder can be released.`);
  return moveOrder(record, 'preReceived', null, now);
}
