/** The output of the bench: one table of all figures, and the acceptance. */
import { cpus, totalmem } from 'node:os';
import { table } from '../test/support/harness/table.ts';
import type { CriterionResult } from './acceptance.ts';
import { cpuName, perSecondName } from './sections/rush.ts';
import { type Column, columns, type Figure, type Sheet } from './sheet.ts';
import { median, shown } from './statistics.ts';

/** The circumstances of the measurement. */
export interface Circumstances {
  readonly machine: string;
  /** The machine's load average before the start: other work slows everything down. */
  readonly loadBefore: number;
  readonly runs: number;
  readonly seconds: number;
  /** The measurements that failed, and why. */
  readonly failures: readonly string[];
}

/** The machine in a few words. */
export function machine(): string {
  const gib = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${gib} GiB, Node ${process.version}`;
}

/** The median, with the range if there were several runs. */
function cell(values: readonly number[]): string {
  if (values.length < 2) return shown(median(values));
  return `${shown(median(values))} (${shown(Math.min(...values))}–${shown(Math.max(...values))})`;
}

function figuresTable(figures: readonly Figure[]): string {
  const used = columns.filter((column) => figures.some((figure) => figure.column === column));
  const titleOf = ({ section, name }: Figure) => `${section}: ${name}`;
  const rows = [...new Set(figures.map(titleOf))].map((title) => [
    title,
    ...used.map((column) => {
      const found = figures.find((figure) => titleOf(figure) === title && figure.column === column);
      return found === undefined ? '' : cell(found.values);
    }),
  ]);
  return table(['', ...used], rows);
}

function acceptanceTable(results: readonly CriterionResult[]): string {
  const verdict = { true: 'met', false: 'NOT MET', null: 'not measured' };
  return table(
    ['acceptance', 'measured', 'target', ''],
    results.map(({ section, title, values, target, met }) => [
      `${section}: ${title}`,
      cell(values),
      target,
      verdict[`${met}`],
    ]),
  );
}

/** This machine's deliveries per second, as a sentence for docs/handbook/scale.md; empty if none was measured. */
function sizing(sheet: Sheet): string[] {
  const said = (what: string, column: Column) => {
    const perSecond = median(sheet.values('rush', perSecondName, column));
    const cpu = median(sheet.values('rush', cpuName, column));
    if (Number.isNaN(perSecond) || Number.isNaN(cpu)) return [];
    return [`${what} ${shown(perSecond)} deliveries per second at ${shown(cpu)} ms of processor time each`];
  };
  const found = [...said('in a burst', 'all'), ...said('where accepted ones get no workflow', 'undelivered')];
  return found.length === 0 ? [] : [`Sizing of this machine: ${found.join('; ')}.`];
}

/** The report for people, in Markdown. */
export function report(sheet: Sheet, results: readonly CriterionResult[], how: Circumstances): string {
  const { loadBefore, runs, seconds, failures } = how;
  const medians = runs === 1 ? 'One run' : `Medians of ${runs} runs (lowest–highest)`;
  return [
    `${medians}; ${how.machine}; load before the start ${shown(loadBefore)}; ${Math.round(seconds / 60)} min`,
    figuresTable(sheet.figures()),
    ...sizing(sheet),
    ...(results.length === 0 ? [] : [acceptanceTable(results)]),
    ...failures.map((failure) => `Not measured: ${failure}`),
  ].join('\n\n');
}

/** The same for programs. */
export function json(sheet: Sheet, results: readonly CriterionResult[], how: Circumstances): string {
  const figures = sheet.figures().map((figure) => ({ ...figure, median: median(figure.values) }));
  return JSON.stringify({ ...how, figures, acceptance: results }, null, 2);
}
