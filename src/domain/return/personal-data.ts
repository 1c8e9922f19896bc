/** What of a return may say who the customer is (docs/interface.md, O14): texts that anybody may have written a name into. */
import type { ReturnRecord } from './schema.ts';

/** A return without them. */
export function returnWithoutCustomer(record: ReturnRecord): ReturnRecord {
  return { ...record, description: null, eshopNote: null, note: null };
}
