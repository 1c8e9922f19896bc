/** The table at the end of a run. */
import { readFile, writeFile } from 'node:fs/promises';
import { table } from '../test/support/harness/table.ts';
import type { Verdict } from './check/check.ts';
import { type Violation, violationKinds } from './check/violation.ts';
import { moments } from './moments.ts';
import { replayCommand } from './plan.ts';
import type { Played } from './round.ts';

const HEAD = [
  'faults',
  'rounds',
  'accepted',
  'without workflow',
  'delivered',
  'repeated',
  ...violationKinds,
  'discarded',
  'latest',
];

/** Whether nothing was lost, stuck, wrong or late. */
export function isClean(played: readonly Played[]): boolean {
  return played.every(({ verdict }) => verdict.violations.length === 0);
}

const groupOf = ({ round: { fault } }: Played) => fault.group;
const faultOf = ({ round: { fault } }: Played) => `${fault.group}: ${fault.name}`;

/** A Markdown table by fault, or by `nameOf`, with the sum; `latest` is in ms beyond the plan, outages included. */
export function resultTable(played: readonly Played[], nameOf: (round: Played) => string = faultOf): string {
  const names = [...new Set(played.map(nameOf))].sort((a, b) => a.localeCompare(b));
  const rows = names.map((name) =>
    row(
      name,
      played.filter((each) => nameOf(each) === name),
    ),
  );
  return table(HEAD, [...rows, row('all', played)]);
}

function row(name: string, rounds: readonly Played[]): string[] {
  const sum = (of: (played: Played) => number) => String(rounds.reduce((total, each) => total + of(each), 0));
  const broken = (kind: Violation['kind']) =>
    sum(({ verdict }) => verdict.violations.filter((each) => each.kind === kind).length);
  return [
    name,
    String(rounds.length),
    sum(({ verdict }) => verdict.accepted),
    sum(({ verdict }) => verdict.withoutWorkflow),
    sum(({ verdict }) => verdict.delivered),
    sum(({ verdict }) => verdict.repeated),
    ...violationKinds.map(broken),
    sum(({ discarded }) => discarded.length),
    String(Math.round(Math.max(0, ...rounds.map(({ verdict }) => verdict.latestMs)))),
  ];
}

/** How often kills have met attempts at each moment, in a line; empty if no round examined this. */
export function killedAtLine(verdicts: readonly Pick<Verdict, 'killedAt'>[]): string {
  const killedAt = verdicts.flatMap((verdict) => verdict.killedAt);
  if (killedAt.length === 0) return '';
  const counts = moments.map((moment) => `${moment} ${killedAt.filter((each) => each === moment).length}`);
  return `killed at: ${counts.join(', ')}`;
}

/** Writes the table, one line per group of faults, into a document between its two marks. */
export async function writeTable(file: string, seed: string, played: readonly Played[]): Promise<void> {
  const text = await readFile(file, 'utf8');
  const result = `<!-- table -->\nSeed \`${seed}\`, ${played.length} rounds:\n\n${resultTable(played, groupOf)}\n<!-- /table -->`;
  await writeFile(
    file,
    text.replace(/<!-- table -->[\s\S]*<!-- \/table -->/, () => result),
  );
}

/** One round in a line, with its violations and the command to replay it. */
export function roundLines({ round, verdict, tookMs, busyMs, logFile }: Played): string {
  const { fault, policy, injectionPoint, lastsMs, workflows } = round;
  const bad = verdict.violations.length > 0;
  const at = typeof injectionPoint === 'number' ? `attempt ${injectionPoint}` : injectionPoint;
  const head = `${bad ? 'BROKEN' : 'ok    '} ${round.index}: ${fault.group}: ${fault.name} (${policy}, ${workflows}, at ${at}, ${lastsMs} ms)`;
  const figures = `${verdict.delivered} of ${verdict.accepted} delivered, ${verdict.withoutWorkflow} without workflow, ${verdict.repeated} repeated, ${(tookMs / 1000).toFixed(1)} s`;
  const busy =
    busyMs === 0 ? '' : ` (the machine was busy with other things for ${(busyMs / 1000).toFixed(1)} s)`;
  const killedAt = killedAtLine([verdict]);
  const broken = verdict.violations.map(({ kind, text }) => `\n         ${kind}: ${text}`).join('');
  return `${head}: ${figures}${busy}${killedAt === '' ? '' : `\n         ${killedAt}`}${broken}${bad ? `\n         again: ${replayCommand(round)}\n         log: ${logFile}` : ''}`;
}
