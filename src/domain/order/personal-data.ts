/** The fields of an order that identify the customer (docs/interface.md, O14). */
import { billingFields, recipientFields } from './billing.ts';
import type { OrderRecord } from './schema.ts';

const others: readonly (keyof OrderRecord)[] = ['pickupPoint', 'note'];

/** Null once erased. */
export const personalOrderFields: readonly string[] = [...recipientFields, ...billingFields, ...others];

/** An order without them, and without its files, such as invoices, and the notes of its status changes. */
export function withoutCustomer(order: OrderRecord): OrderRecord {
  return {
    ...order,
    ...Object.fromEntries(personalOrderFields.map((field) => [field, null])),
    orderFiles: [],
    statusHistory: order.statusHistory.map((change) => ({ ...change, note: null })),
  };
}
