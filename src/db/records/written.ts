/**
 * What reads and writes give back.
 * @module
 */

/** A page of a list and how many records the whole list has. */
export interface Listed<Record> {
  readonly records: readonly Record[];
  readonly totalCount: number;
}

/** True when a pure change left the record as it was: nothing is written then and nothing fires. */
export function unchanged(before: object, after: object): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}
