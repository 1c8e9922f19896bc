/** What of a record says who a customer is (docs/interface.md, O14). */
import type { OrderRecord } from './order/schema.ts';
import type { ReturnRecord } from './return/schema.ts';

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

/** Texts that anybody may have written a name into. */
export const personalReturnFields = [
  'description',
  'eshopNote',
  'note',
] as const satisfies readonly (keyof ReturnRecord)[];

const nulls = (fields: readonly string[]) => Object.fromEntries(fields.map((field) => [field, null]));

/** An order without them; without its files, such as invoices, and the notes of its status changes too. */
export function withoutCustomer(order: OrderRecord): OrderRecord {
  return {
    ...order,
    ...nulls(personalOrderFields),
    orderFiles: [],
    statusHistory: order.statusHistory.map((change) => ({ ...change, note: null })),
  };
}

/** A return without them. */
export function returnWithoutCustomer(record: ReturnRecord): ReturnRecord {
  return { ...record, ...nulls(personalReturnFields) };
}
