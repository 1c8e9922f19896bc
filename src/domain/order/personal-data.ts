/** The fields of an order that identify the customer (docs/interface.md, O14). */
import { billingFields, recipientFields } from './billing.ts';
import type { OrderRecord } from './schema.ts';

/** Null once erased. */
export const nulledOrderFields: readonly string[] = [
  ...recipientFields,
  ...billingFields,
  ...(['pickupPoint', 'note'] satisfies (keyof OrderRecord)[]),
];

/** All of them, as paths. */
export const personalOrderFields: readonly string[] = [
  ...nulledOrderFields,
  'orderFiles',
  'statusHistory[].note',
];

/** An order without them: files, such as invoices, go too, and the notes of its status changes. */
export function withoutCustomer(order: OrderRecord): OrderRecord {
  return {
    ...order,
    ...Object.fromEntries(nulledOrderFields.map((field) => [field, null])),
    orderFiles: [],
    statusHistory: order.statusHistory.map((change) => ({ ...change, note: null })),
  };
}
