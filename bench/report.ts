/**
 * What the bench prints.
 * @module
 */
import { cpus } from 'node:os';
import type { Milliseconds } from './cpu.ts';
import { median, percentile, shown, table } from './figures.ts';
import type { Round } from './rounds.ts';

/** Rounds of one kind: a column of the table. */
export interface Kind {
  readonly name: string;
  readonly rounds: readonly Round[];
}

/** What carries a delivery; the receiver and the bench itself only share the machine. */
const OWN = ['api', 'worker', 'postgres', 'temporal', 'temporal db'];
const BESIDE = ['receiver', 'bench'];

/** A line of the table: its title, and what it shows of each round. */
type Line = readonly [title: string, value: (round: Round) => number];

const cpuLine = (title: string, names: readonly string[]): Line => [
  title,
  ({ cpuPerDelivery }) => names.reduce((sum, name) => sum + (cpuPerDelivery[name] ?? Number.NaN), 0),
];

/** @param own of the processes that carry a delivery, those there are */
const linesFor = (own: readonly string[]): readonly Line[] => [
  ['deliveries per second', ({ deliveries, seconds }) => deliveries / seconds],
  ['COMMIT to first byte, p50, ms', ({ latencies }) => percentile(latencies, 50)],
  ['COMMIT to first byte, p99, ms', ({ latencies }) => percentile(latencies, 99)],
  cpuLine('CPU per delivery, ms', own),
  ...own.map((name) => cpuLine(`  ${name}`, [name])),
  ...BESIDE.map((name) => cpuLine(`  beside: ${name}`, [name])),
  ['requests repeated', ({ repeats }) => repeats],
];

/** One round in one line. */
export function oneLine({ deliveries, seconds, latencies }: Round): string {
  const [p50, p99] = [percentile(latencies, 50), percentile(latencies, 99)];
  return `${shown(deliveries / seconds)} deliveries/s, p50 ${shown(p50)} ms, p99 ${shown(p99)} ms`;
}

/**
 * The table of medians, and what its figures mean.
 * @param idle what each process uses while nothing happens, in per cent of one processor
 * @param load the machine's load average before the start: what else ran here has slowed the rounds down
 */
export function report(kinds: readonly Kind[], idle: Milliseconds, load: number): string {
  const measured = kinds.filter(({ rounds }) => rounds.length > 0);
  const own = OWN.filter((name) => name in idle);
  const rows = linesFor(own).map(([title, value]) => [
    title,
    ...measured.map(({ rounds }) => shown(median(rounds.map(value)))),
  ]);
  const rounds = measured.map(({ rounds }) => rounds.length).join(' and ');
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, Node ${process.version}, load before the start ${shown(load)}`;
  const idleShares = own.map((name) => `${name} ${shown(idle[name] ?? Number.NaN)} %`).join(', ');
  return `
Medians of ${rounds} rounds; ${machine}

${table(['', ...measured.map(({ name }) => name)], rows)}

Each delivery is one order created over HTTP and one POST to one receiver. COMMIT is the time that Postgres notes for
the accepting transaction (track_commit_timestamp), just before its flush to disk; the first byte is the head of the
request, seen in the receiver's process. CPU counts user and system time of a process with all that it started, the
creation of the order included, until a second after the last arrival. Everything runs on this machine, so that the
e-shop's clients (bench) and the receiver take their share of it. Idle, of one processor: ${idleShares}.
`;
}
