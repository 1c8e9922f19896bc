/** Packing lists: which units went into which box. */
import { type Call, warehouse } from '../steps.ts';
import type { Day } from './context.ts';
import type { OrderDraft } from './order-draft.ts';

/** GS1's prefix for examples, and the number of our own digits. */
const COMPANY = '09521234';
const SERIAL_DIGITS = 9;

/**
 * A Serial Shipping Container Code: 18 digits, the last one the check digit (GS1 General Specifications, 7.9).
 * @param serial up to nine digits
 */
export function sscc(serial: number): string {
  const digits = COMPANY + String(serial).padStart(SERIAL_DIGITS, '0');
  const sum = [...digits].reduce((total, digit, at) => total + Number(digit) * (at % 2 === 0 ? 3 : 1), 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** Everything goes into one box. */
export function packed({ random }: Day, { id, lines }: OrderDraft): Call {
  const box = {
    packageNumber: 1,
    packageType: 'carton',
    sscc: sscc(random.integer(1, 10 ** SERIAL_DIGITS - 1)),
    trackingNumber: `T${random.integer(10 ** 9, 10 ** 10 - 1)}`,
  };
  return warehouse(
    'PUT',
    `/orders/${id}/packing-lists`,
    { orderProducts: lines.map(({ sku, quantity }) => ({ sku, packingLists: [{ ...box, quantity }] })) },
    'UPDATE_ORDER',
  );
}
