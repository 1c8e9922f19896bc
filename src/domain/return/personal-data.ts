/**
 * The fields of a return that may identify the customer (docs/interface.md, O14): free texts that may contain a
 * name.
 */
import type { ReturnRecord } from './schema.ts';

/** Null once erased. */
export const personalReturnFields = [
  'description',
  'eshopNote',
  'note',
] as const satisfies (keyof ReturnRecord)[];

/** A return without them. */
export function returnWithoutCustomer(record: ReturnRecord): ReturnRecord {
  return { ...record, ...Object.fromEntries(personalReturnFields.map((field) => [field, null])) };
}
