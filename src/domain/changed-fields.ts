/** The names of the fields that a write changed, as its events carry them (`X-Service-Changed`). */
import { changedNames } from './unchanged.ts';

/** The longest list, in characters: all names are ASCII. Too high: some receivers refuse so large a header. */
const MAX_CHANGED_CHARS = 1024;
/** Stands for a longer list. */
const ANY_FIELD = '*';
/**
 * The list of an event that fires because only a product's stock changed. No list names `stock` together with other
 * fields.
 */
export const STOCK_ONLY = 'stock';
/** Changes with every write. */
const NEVER_NAMED = 'updatedAt';

/** @returns top-level fields in the order of the record, joined by commas; {@link ANY_FIELD} if that is too long */
export function changedFields(before: object, after: object): string {
  const changed = changedNames(before, after);
  const names = changed.filter((name) => name !== NEVER_NAMED).join(',');
  return names.length > MAX_CHANGED_CHARS ? ANY_FIELD : names;
}
