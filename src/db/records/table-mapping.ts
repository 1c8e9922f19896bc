import type { CatalogueEntry } from '../../domain/catalogue.ts';

/** The lines of a record, in their own table. */
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
  /** Fields that are not plain columns, as SQL over the table `t`: they are read, never written. */
  readonly computed?: Readonly<Record<string, string>>;
}

/** SQL whose every part comes from the source: names and expressions, never a value. */
export const sqlText = String.raw;
