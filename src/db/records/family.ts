/**
 * What is to be known of a kind of record to keep it in the database: its tables, and what follows from a write. How a
 * record is created, changed, read and listed is the same for all of them (`write.ts`, `read.ts`).
 * @module
 */
import type { CatalogueEntry } from '../../domain/catalogue.ts';
import type { Transaction } from '../transaction.ts';

/** A write of a record. */
export interface Written<Rec> {
  readonly eshopId: number;
  /** Null on creation. */
  readonly before: Rec | null;
  readonly after: Rec;
}

/** The lines of a record, which stand in a table of their own. */
export interface Lines<Rec> {
  readonly table: string;
  /** The record's field that holds them. */
  readonly field: string;
  of(record: Rec): readonly object[];
}

/** SQL of which every part stands in the source: names and expressions, never a value. */
export const sqlText = String.raw;

/** A kind of record: a table whose columns are the fields of the record's schema, in snake case. */
export interface Family<Rec extends object> {
  readonly entry: CatalogueEntry;
  readonly table: string;
  readonly lines?: Lines<Rec>;
  /** Fields that are no column of that name, as SQL over the table `t`: read like this, and never written. */
  readonly computed?: Readonly<Record<string, string>>;
  /**
   * What a write costs beside the record's own rows, in its transaction and under its lock.
   * @throws Problem 409 when it is impossible; the whole write is undone then
   */
  effects?(tx: Transaction, written: Written<Rec>): Promise<void>;
}
