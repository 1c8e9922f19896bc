/** The targets of Waybill, as figures of one run or ratios of them. */
import type { Column } from './sheet.ts';

/** A line of the acceptance table. */
export interface Criterion {
  readonly title: string;
  readonly bound: Bound;
  /** Its value in one run of its section; NaN if a figure that it needs was not measured. */
  readonly value: (of: (name: string, column: Column) => number) => number;
}

/** The least or the most that is accepted. */
export type Bound = { readonly least: number } | { readonly most: number };

/** A figure; if no column is named, of the default setting: the column `all`. */
type Cell = string | readonly [name: string, column: Column];
const cellOf = (cell: Cell) => (typeof cell === 'string' ? ([cell, 'all'] as const) : cell);

/** One figure over another. */
export function ratio(title: string, cell: Cell, over: Cell, bound: Bound): Criterion {
  return { title, bound, value: (of) => of(...cellOf(cell)) / of(...cellOf(over)) };
}

/** A figure as it is. */
export function figure(title: string, cell: Cell, bound: Bound): Criterion {
  return { title, bound, value: (of) => of(...cellOf(cell)) };
}
