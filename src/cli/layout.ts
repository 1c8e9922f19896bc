/**
 * How results are laid out for people.
 * @module
 */

/** Lines of `name  value`, the values aligned. */
export function pairs(rows: readonly (readonly [string, string | number])[]): string {
  const width = Math.max(...rows.map(([title]) => title.length));
  return rows.map(([title, value]) => `${title.padEnd(width)}  ${value}`).join('\n');
}

/** A table with a line of titles; numbers stand at the right of their column. */
export function table(titles: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
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

const shown = (time: Date, length: number) => `${time.toISOString().slice(0, length).replace('T', ' ')}Z`;

/** A time as people read it, in UTC: `2026-11-20 19:33Z`. */
export const minute = (time: Date): string => shown(time, 16);

/** The same where seconds matter: `2026-11-20 19:33:07Z`. */
export const second = (time: Date): string => shown(time, 19);
