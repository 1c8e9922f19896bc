/**
 * What is to be known of a kind of record to keep it in the database: its tables, and what follows from a write. How a
 * record is created, changed, read and listed is the same for all of them (`write.ts`, `read.ts`).
 */
import type { Kind } from './kind.ts';
import { Records } from './records.ts';
import { partOf, type Work } from './work.ts';

/** A write of a record. */
export interface Written<Rec> {
  /** Null on creation. */
  readonly before: Rec | null;
  readonly after: Rec;
}

/** What a write costs beside the record's own rows, in its transaction and under its lock. */
export interface Effects<Rec> {
  /** Whether a write has any. */
  due(written: Written<Rec>): boolean;
  /**
   * Stages them.
   * @throws Problem 409 when it is impossible; the whole write is undone then
   */
  stage(work: Work, written: Written<Rec>): Promise<void>;
  /**
   * Reads at once what the effects on many records will ask for.
   * @returns the SKUs whose stock they will ask for
   */
  prepare(work: Work, records: readonly Rec[]): Promise<readonly string[]>;
}

/** A kind of record. */
export interface Family<Rec extends object> extends Kind<Rec> {
  readonly effects?: Effects<Rec>;
  /** Those that a unit of work has locked. */
  records(work: Work): Records<Rec>;
}

/** Makes a family. */
export function familyOf<Rec extends object>(
  kind: Kind<Rec> & { readonly effects?: Effects<Rec> },
): Family<Rec> {
  return { ...kind, records: partOf((work) => new Records(work, kind)) };
}
