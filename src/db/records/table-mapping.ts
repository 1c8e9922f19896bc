import type { CatalogueEntry } from '../../domain/catalogue.ts';

/** The lines of a record, which stand in a table of their own. */
interface ChildTable<Rec> {
  readonly table: string;
  /** The record's field that holds them. */
  readonly field: string;
  of(record: Rec): readonly object[];
}

/** A table whose columns are the fields of the record's schema, in snake case. */
export interface TableMapping<Rec extends object> {
  readonly entry: CatalogueEntry;
  readonly table: string;
  readonly lines?: ChildTable<Rec>;
  /** Fields that are no column of that name, as SQL over the table `t`: read like this, and never written. */
  readonly computed?: Readonly<Record<string, string>>;
}

/** SQL of which every part stands in the source: names and expressions, never a value. */
export const sqlText = String.raw;
