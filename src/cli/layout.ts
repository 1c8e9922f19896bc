/** The layout of results for people. */
import { oneLine } from '../domain/text.ts';

/** Lines of `name  value` with aligned values; no line for null. Control characters do not break the alignment. */
export function pairs(given: readonly (readonly [string, string | number | null])[]): string {
  const rows = given.flatMap(([title, value]) => (value === null ? [] : [[title, value] as const]));
  const width = Math.max(...rows.map(([title]) => title.length));
  return rows.map(([title, value]) => `${title.padEnd(width)}  ${cellOf(value)}`).join('\n');
}

/** E-shops choose identifiers, URLs and descriptions, which must not send commands to the operator's terminal. */
function cellOf<T extends string | number>(value: T): T | string {
  return typeof value === 'string' ? oneLine(value) : value;
}

/** A row of a table: title → value. */
export type Cells = Readonly<Record<string, string | number>>;

/** The columns of the terminal; no limit in a pipe or a file, whose readers may want the whole value. */
function terminalColumns(): number {
  const { isTTY, columns } = process.stdout;
  // A terminal may report zero columns.
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** The text cut to this length, with an ellipsis as its last character. */
const cutTo = (text: string, length: number) =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/**
 * A table with the titles of the first record; numbers are aligned to the right.
 * @param cuttable the columns that are cut to fit the terminal, least important first, each with the number of
 * characters that it keeps. Never an identifier or a secret: part of one is useless.
 */
export function table(
  records: readonly Cells[],
  cuttable: Readonly<Record<string, number>> = {},
  columns = terminalColumns(),
): string {
  const titles = Object.keys(records[0] ?? {});
  const rows = records.map((record) => Object.values(record).map(cellOf));
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => String(row[column] ?? '').length)),
  );
  let excess = widths.reduce((sum, width) => sum + width, 2 * (widths.length - 1)) - columns;
  for (const [title, least] of Object.entries(cuttable)) {
    const column = titles.indexOf(title);
    const width = widths[column];
    if (width === undefined || excess <= 0) continue;
    const cut = Math.min(width, Math.max(width - excess, least));
    widths[column] = cut;
    excess -= width - cut;
  }
  const line = (cells: readonly (string | number)[]) =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return typeof cell === 'number' ? String(cell).padStart(width) : cutTo(cell, width).padEnd(width);
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
