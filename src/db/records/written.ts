/**
 * What a write gives back.
 * @module
 */

/** The record after the write, and whether there is anything for the relay to do after COMMIT. */
export interface Written<Record> {
  readonly record: Record;
  /** True when delivery or outbox rows were written. */
  readonly wake: boolean;
}

/** A page of a list and how many records the whole list has. */
export interface Listed<Record> {
  readonly records: readonly Record[];
  readonly totalCount: number;
}

/** True when a pure change left the record as it was: nothing is written then and nothing fires. */
export function unchanged(before: object, after: object): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}
