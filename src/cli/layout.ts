/** The layout of results for people. */
import { oneLine } from '../domain/text.ts';

/** Lines of `name  value`, with aligned values, even with control characters in them; no line for null. */
export function pairs(given: readonly (readonly [string, string | number | null])[]): string {
  const rows = given.flatMap(([title, value]) => (value === null ? [] : [[title, value] as const]));
  const width = Math.max(...rows.map(([title]) => title.length));
  return rows.map(([title, value]) => `${title.padEnd(width)}  ${cellOf(value)}`).join('\n');
}

/** E-shops choose identifiers, URLs and descriptions: these must not send commands to the operator's terminal. */
function cellOf<T extends string | number>(value: T): T | string {
  return typeof value === 'string' ? oneLine(value) : value;
}

/** A row of a table: title → value. */
export type Cells = Readonly<Record<string, string | number>>;

/** A table with the titles of the first record; numbers are aligned to the right. */
export function table(records: readonly Cells[]): string {
  const titles = Object.keys(records[0] ?? {});
  const rows = records.map((record) => Object.values(record).map(cellOf));
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => String(row[column] ?? '').length)),
  );
  const line = (cells: readonly (string | number)[]) =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return typeof cell === 'number' ? String(cell).padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  return [titles, ...rows].map(line).join('\n');
}

const formatted = (time: Date, length: number) => `${time.toISOString().slice(0, length).replace('T', ' ')}Z`;

/** A time for people, in UTC: `2026-11-20 19:33Z`. */
export const minute = (time: Date): string => formatted(time, 16);

/** The same with seconds: `2026-11-20 19:33:07Z`. */
export const second = (time: Date): string => formatted(time, 19);
