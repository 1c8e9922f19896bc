/** The results of an examination, for a terminal. */
import type { Examination, Row, Verdict } from './examine.ts';

const MARKS: Readonly<Record<Verdict, string>> = { ok: 'ok', warning: 'warning', fail: 'FAIL' };
const COUNTED: readonly (readonly [Verdict, string])[] = [
  ['fail', 'failed'],
  ['warning', 'with a warning'],
  ['ok', 'ok'],
];
/** The text of an answer may be long. */
const MAX_CHARS = 60;

/** Text from a receiver must not reach the terminal as a control sequence. */
const safe = (text: string) => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ');
const short = (text: string) => (text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text);

/** Rows with any name, as the API returns them. */
interface Shown extends Pick<Examination, 'complete'> {
  readonly rows: readonly (Omit<Row, 'name'> & { readonly name: string })[];
}

/** One line per row, the remedy of each fault below it, and a summary. */
export function table({ rows, complete }: Shown): string {
  const cells = rows.map(({ name, received, verdict, remedy }) => ({
    columns: [MARKS[verdict], name, short(safe(received))],
    remedy,
  }));
  const width = (column: number) => Math.max(0, ...cells.map(({ columns }) => columns[column]?.length ?? 0));
  const widths = [width(0), width(1)];
  const lines = cells.flatMap(({ columns, remedy }) => [
    columns
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
    ...(remedy === null ? [] : [`${' '.repeat((widths[0] ?? 0) + 2)}→ ${remedy}`]),
  ]);
  const counts = COUNTED.flatMap(([verdict, label]) => {
    const count = rows.filter((row) => row.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${label}`];
  });
  const ended = complete ? '' : ' The examination ended early: the receiver did not answer, or not in time.';
  return [...lines, '', `${counts.join(', ')}.${ended}`].join('\n');
}
