/** The fields of a return that may identify the customer (docs/interface.md, O14): free texts that may contain a name. */
import type { ReturnRecord } from './schema.ts';

/** A return without them. */
export function returnWithoutCustomer(record: ReturnRecord): ReturnRecord {
  return { ...record, description: null, eshopNote: null, note: null };
}
