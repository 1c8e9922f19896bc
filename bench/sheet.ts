/** The results of the bench: figures by section, name and column, with one value per run. */
/** Temporal's floor, Waybill by `WORKFLOWS`, its attempts without Temporal, the sender alone. */
export const columns = ['floor', 'all', 'undelivered', 'attempts without Temporal', 'sender'] as const;
/** A column of the table. */
export type Column = (typeof columns)[number];

/** A cell of the table. */
export interface Figure {
  readonly section: string;
  readonly name: string;
  readonly column: Column;
  /** One per run. */
  readonly values: readonly number[];
}

/** The figures so far, in the order of the first use of their names. */
export interface Sheet {
  note(section: string, name: string, column: Column, value: number): void;
  /** One per run; empty if not measured. */
  values(section: string, name: string, column: Column): readonly number[];
  figures(): readonly Figure[];
}

/** An empty sheet. */
export function createSheet(): Sheet {
  const cells: { section: string; name: string; column: Column; values: number[] }[] = [];
  const find = (section: string, name: string, column: Column) =>
    cells.find((cell) => cell.section === section && cell.name === name && cell.column === column);
  return {
    note(section, name, column, value) {
      const cell = find(section, name, column);
      if (cell === undefined) cells.push({ section, name, column, values: [value] });
      else cell.values.push(value);
    },
    values: (section, name, column) => find(section, name, column)?.values ?? [],
    figures: () => cells,
  };
}
