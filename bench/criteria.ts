/** What Waybill is to reach, as ratios of figures of one run, or as figures. */
import type { Column } from './sheet.ts';

/** A line of the acceptance. */
export interface Criterion {
  readonly title: string;
  readonly bound: Bound;
  /** Of one run of its section; NaN where a figure that it needs was not measured. */
  readonly value: (of: (name: string, column: Column) => number) => number;
}

/** At least, or at most, so much. */
export type Bound = { readonly least: number } | { readonly most: number };

/** A figure, of the default setting where no column is named: `auto` stands for it. */
type Cell = string | readonly [name: string, column: Column];
const cellOf = (cell: Cell) => (typeof cell === 'string' ? ([cell, 'auto'] as const) : cell);

/** One figure over another. */
export function ratio(title: string, cell: Cell, over: Cell, bound: Bound): Criterion {
  return { title, bound, value: (of) => of(...cellOf(cell)) / of(...cellOf(over)) };
}

/** A figure as it is. */
export function figure(title: string, cell: Cell, bound: Bound): Criterion {
  return { title, bound, value: (of) => of(...cellOf(cell)) };
}
