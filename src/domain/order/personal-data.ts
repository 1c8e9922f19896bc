/** What of an order says who the customer is (docs/interface.md, O14). */
import { billingFields, recipientFields } from './billing.ts';
import type { OrderRecord } from './schema.ts';

const others: readonly (keyof OrderRecord)[] = ['pickupPoint', 'note'];

/** Null once they are erased. */
export const personalOrderFields: readonly string[] = [...recipientFields, ...billingFields, ...others];

/** An order without them; without its files, such as invoices, and the notes of its status changes too. */
export function withoutCustomer(order: OrderRecord): OrderRecord {
  return {
    ...order,
    ...Object.fromEntries(personalOrderFields.map((field) => [field, null])),
    orderFiles: [],
    statusHistory: order.statusHistory.map((change) => ({ ...change, note: null })),
  };
}
