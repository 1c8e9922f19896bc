/** What of an order says who the customer is (docs/interface.md, O14). */
import type { OrderRecord } from './schema.ts';

/** Null once they are erased. */
export const personalOrderFields = [
  'recipientName',
  'recipientCompanyName',
  'recipientEmail',
  'recipientPhone',
  'recipientStreet',
  'recipientCity',
  'recipientPostCode',
  'recipientCountry',
  'billingName',
  'billingCompanyName',
  'billingEmail',
  'billingPhone',
  'billingStreet',
  'billingCity',
  'billingPostCode',
  'billingCountry',
  'pickupPoint',
  'note',
] as const satisfies readonly (keyof OrderRecord)[];

/** An order without them; without its files, such as invoices, and the notes of its status changes too. */
export function withoutCustomer(order: OrderRecord): OrderRecord {
  return {
    ...order,
    ...Object.fromEntries(personalOrderFields.map((field) => [field, null])),
    orderFiles: [],
    statusHistory: order.statusHistory.map((change) => ({ ...change, note: null })),
  };
}
