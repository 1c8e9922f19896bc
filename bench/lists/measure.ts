/** How long lists take to answer, and by which plans, as a table. */
import { percentile, shown, table } from '../statistics.ts';
import type { Plan, Planner } from './plan.ts';
import { type Direction, directions, type ListQuery } from './queries.ts';

/** What was measured of a list with a filter, read from one end. */
export interface Measured extends Plan {
  readonly list: string;
  readonly filters: readonly string[];
  readonly direction: Direction;
  /** Rows of the first page. */
  readonly rows: number;
  /** Of each answer, in milliseconds. */
  readonly answers: readonly number[];
}

/** Answers a list several times, after once that is not counted. */
export async function measureList(
  planner: Planner,
  query: ListQuery,
  direction: Direction,
  times: number,
): Promise<Measured> {
  const { list, filters } = query;
  const rows = await query.answer(direction);
  const answers: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const began = performance.now();
    await query.answer(direction);
    answers.push(performance.now() - began);
  }
  const plans: Plan[] = [];
  for (const one of query.queries(direction)) plans.push(await planner.planOf(one));
  return {
    list,
    filters,
    direction,
    rows,
    answers,
    scanned: [...new Set(plans.flatMap(({ scanned }) => scanned))],
    indexes: [...new Set(plans.flatMap(({ indexes }) => indexes))],
    read: Math.max(...plans.map(({ read }) => read)),
    sorted: Math.max(...plans.map(({ sorted }) => sorted)),
    pages: Math.max(...plans.map(({ pages }) => pages)),
  };
}

const HEAD = ['', ...directions.flatMap((name) => [`${name} p50`, 'p95', 'rows read', 'sorted'])];

/** One row per list and filter: the slowest of those whose filters have the same names. */
export function listsTable(measured: readonly Measured[]): string {
  const groups = new Map<string, Measured[]>();
  for (const one of measured) {
    const name = nameOf(one);
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return table(
    HEAD,
    [...groups].map(([name, group]) => [
      name,
      ...directions.flatMap((direction) => cells(group.filter((one) => one.direction === direction))),
    ]),
  );
}

/** With the values left out. */
function nameOf({ list, filters }: Measured): string {
  return [list, ...filters.map((label) => label.split(' ')[0])].join(' ');
}

function cells(group: readonly Measured[]): string[] {
  if (group.length === 0) return ['–', '–', '–', '–'];
  const most = (of: (one: Measured) => number) => Math.max(...group.map(of));
  return [
    shown(most(({ answers }) => percentile(answers, 50))),
    shown(most(({ answers }) => percentile(answers, 95))),
    String(most(({ read }) => Math.round(read))),
    String(most(({ sorted }) => Math.round(sorted))),
  ];
}

/** The slowest, each with what it was asked and its indexes. */
export function slowest(measured: readonly Measured[], most: number): string[] {
  return [...measured]
    .sort((a, b) => percentile(b.answers, 50) - percentile(a.answers, 50))
    .slice(0, most)
    .map(({ list, filters, direction, answers, read, rows, indexes }) => {
      const ms = shown(percentile(answers, 50)).padStart(7);
      const by = [...new Set(indexes.map((name) => name.replace(/_\d{8}/, '')))].join(', ');
      return `${ms} ms  ${[list, ...filters].join(' | ')}  (${direction}: ${rows} rows shown, ${Math.round(read)} read by ${by})`;
    });
}
