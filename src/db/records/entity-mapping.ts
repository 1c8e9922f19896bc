/** How a kind of record is stored: its tables, and the side effects of a write. The rest is the same for all. */
import { Records } from './records.ts';
import type { TableMapping } from './table-mapping.ts';
import { participantOf, type UnitOfWork } from './unit-of-work.ts';

export interface Written<Rec> {
  /** Null on creation. */
  readonly before: Rec | null;
  readonly after: Rec;
}

/** The changes of a write besides the record's own rows, in its transaction and under its lock. */
export interface SideEffects<Rec> {
  /** Whether a write has side effects. */
  due(written: Written<Rec>): boolean;
  /** Stages them. @throws Problem 409 if they are impossible; the whole write is undone then */
  stage(work: UnitOfWork, written: Written<Rec>): Promise<void>;
  /** Reads together the data that the effects on many records need. @returns the SKUs whose stock they need */
  prepare(work: UnitOfWork, records: readonly Rec[]): Promise<readonly string[]>;
}

export interface EntityMapping<Rec extends object> extends TableMapping<Rec> {
  readonly sideEffects?: SideEffects<Rec>;
  /** The records that a unit of work has locked. */
  records(work: UnitOfWork): Records<Rec>;
}

export function entityMapping<Rec extends object>(
  mapping: TableMapping<Rec> & { readonly sideEffects?: SideEffects<Rec> },
): EntityMapping<Rec> {
  return { ...mapping, records: participantOf((work) => new Records(work, mapping)) };
}
