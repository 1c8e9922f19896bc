/**
 * The acceptance: ratios of figures of one run, and of several runs the median of their ratios. A machine that is slower for a while
 * slows down all figures that one run compares.
 */

import { latencyName as beforeName, eachCpuName, eachName } from './sections/before.ts';
import { answerName, easyName, floorName, latencyName, wholeAnswerName, wholeName } from './sections/calm.ts';
import { costName, most, none } from './sections/growth.ts';
import {
  besideHanging,
  failedFirstName,
  undeliveredName as undeliveredBesideHanging,
} from './sections/hosts.ts';
import { importNames } from './sections/import.ts';
import { freshName, restartsName } from './sections/memory.ts';
import { besideNames, lastRetryName, lateName, timeoutsName } from './sections/neighbours.ts';
import {
  calmName,
  rushName as orderRushName,
  outOfOrderName,
  singleName,
  steadyP95Name,
} from './sections/order.ts';
import { calmName as pooledCalm, rushName as pooledRush } from './sections/pooler.ts';
import { failingName, promptName, slowName } from './sections/receivers.ts';
import {
  etaName,
  latencyName as recoveryLatency,
  repeatsName,
  SHARES,
  undeliveredName,
} from './sections/recovery.ts';
import { cpuName, perSecondName, temporalName } from './sections/rush.ts';
import type { Column, Sheet } from './sheet.ts';
import { median } from './statistics.ts';
import { type Trouble, troubles } from './troubles.ts';

/** A line of the acceptance. */
export interface Criterion {
  readonly section: string;
  readonly title: string;
  /** Whether the target is a lower or an upper bound. */
  readonly bound: 'least' | 'most';
  readonly target: number;
  /** The value of one run; NaN if a figure that it needs was not measured. */
  readonly value: (of: (section: string, name: string, column: Column) => number) => number;
}

/** A criterion with its result. */
export interface Judged {
  readonly section: string;
  readonly title: string;
  readonly target: string;
  /** One per run. */
  readonly values: readonly number[];
  /** Their median; NaN if not measured. */
  readonly value: number;
  /** Null if not measured. */
  readonly met: boolean | null;
}

type Cell = readonly [name: string, column: Column];
type Bound = readonly ['least' | 'most', number];

/** One figure over another of the same section. */
function ratio(
  section: string,
  title: string,
  [name, column]: Cell,
  [otherName, other]: Cell,
  [bound, target]: Bound,
): Criterion {
  const value: Criterion['value'] = (of) => of(section, name, column) / of(section, otherName, other);
  return { section, title, bound, target, value };
}

/** A figure as it is. */
function figure(section: string, title: string, [name, column]: Cell, [bound, target]: Bound): Criterion {
  return { section, title, bound, target, value: (of) => of(section, name, column) };
}

/** A latency beside a trouble may be three times that without it, and is never too long below 300 ms. */
const NEVER_TOO_LONG_MS = 300;
const ofNeighbours = (trouble: Trouble): readonly Criterion[] => [
  {
    section: 'neighbours',
    title: `p95 beside ${trouble.name}, over that without (or 300 ms)`,
    bound: 'most',
    target: 3,
    value: (of) => {
      const without = of('neighbours', besideNames.alone(trouble), 'auto');
      return of('neighbours', besideNames.beside(trouble), 'auto') / Math.max(without, NEVER_TOO_LONG_MS / 3);
    },
  },
  figure(
    'neighbours',
    `undelivered beside ${trouble.name}`,
    [besideNames.undelivered(trouble), 'auto'],
    ['most', 0],
  ),
];

/** In the order of the sections. `auto` is the default, used if no setting is named. */
const criteria: readonly Criterion[] = [
  ratio(
    'before',
    'p50 from COMMIT over that of the other checkout',
    [beforeName(50), 'auto'],
    [beforeName(50), 'before'],
    ['most', 1],
  ),
  ratio(
    'before',
    'each: throughput over the other checkout’s',
    [eachName, 'auto'],
    [eachName, 'before'],
    ['least', 1],
  ),
  ratio(
    'before',
    'each: CPU over the other checkout’s',
    [eachCpuName, 'auto'],
    [eachCpuName, 'before'],
    ['most', 1],
  ),
  ratio(
    'calm',
    'p50 from request over the engine’s floor',
    [easyName(50), 'auto'],
    [floorName, 'floor'],
    ['most', 1.5],
  ),
  ratio(
    'calm',
    'p50 from request to first byte over that to its own answer',
    [easyName(50), 'auto'],
    [answerName, 'auto'],
    ['most', 1.6],
  ),
  ratio(
    'calm',
    'in one process: p50 from request to first byte over that to its own answer',
    [wholeName(50), 'auto'],
    [wholeAnswerName, 'auto'],
    ['most', 1.6],
  ),
  ratio(
    'calm',
    'p50 from request to first byte, API and worker apart over one process',
    [easyName(50), 'auto'],
    [wholeName(50), 'auto'],
    ['most', 1.5],
  ),
  ratio(
    'calm',
    'p99 over p50 from request, at an easy pace',
    [easyName(99), 'auto'],
    [easyName(50), 'auto'],
    ['most', 4],
  ),
  ratio(
    'calm',
    'p99 over p50 from COMMIT, at half of capacity',
    [latencyName(99, 50), 'auto'],
    [latencyName(50, 50), 'auto'],
    ['most', 4],
  ),
  ratio(
    'rush',
    'each: throughput over the floor’s',
    [perSecondName, 'each'],
    [perSecondName, 'floor'],
    ['least', 0.8],
  ),
  ratio('rush', 'each: CPU over the floor’s', [cpuName, 'each'], [cpuName, 'floor'], ['most', 1.3]),
  ratio(
    'rush',
    'batch: throughput over that without Temporal',
    [perSecondName, 'batch'],
    [perSecondName, 'no Temporal'],
    ['least', 0.75],
  ),
  ratio(
    'rush',
    'batch: throughput over that of each',
    [perSecondName, 'batch'],
    [perSecondName, 'each'],
    ['least', 40],
  ),
  ratio(
    'rush',
    'batch: CPU over the sender’s alone (0.9 ms where that is 0.14 ms)',
    [cpuName, 'batch'],
    [cpuName, 'sender'],
    ['most', 0.9 / 0.14],
  ),
  ratio(
    'rush',
    'batch: Temporal’s share of the CPU',
    [temporalName, 'batch'],
    [cpuName, 'batch'],
    ['most', 1 / 3],
  ),
  ratio(
    'receivers',
    'batch: throughput with 2 % slow over that without',
    [slowName, 'batch'],
    [promptName, 'batch'],
    ['least', 0.5],
  ),
  ratio(
    'receivers',
    'batch: throughput with 5 % failing over that without',
    [failingName, 'batch'],
    [promptName, 'batch'],
    ['least', 1 / 3],
  ),
  ratio(
    'import',
    'lines per second delivered at once over those alone',
    [importNames.beside, 'auto'],
    [importNames.alone, 'auto'],
    ['least', 0.6],
  ),
  figure(
    'import',
    'time until all lines are delivered over that of the import',
    [importNames.delivered, 'auto'],
    ['most', 2],
  ),
  ...troubles.flatMap(ofNeighbours),
  ...troubles
    .filter(({ name }) => name.includes('unknown fields'))
    .map((trouble) =>
      ratio(
        'neighbours',
        `reads, p95 beside ${trouble.name}, over that without`,
        [besideNames.readsBeside(trouble), 'auto'],
        [besideNames.readsAlone(trouble), 'auto'],
        ['most', 3],
      ),
    ),
  figure(
    'neighbours',
    'retries due at one time: the last begins after, s',
    [lastRetryName, 'auto'],
    ['most', 10],
  ),
  figure('neighbours', 'clients: later than neighbours by more than 2 s', [lateName, 'auto'], ['most', 0]),
  figure('neighbours', 'clients: workflow task time-outs', [timeoutsName, 'auto'], ['most', 0]),
  figure(
    'hosts',
    'a healthy webhook beside one of its host that hangs: p95, ms',
    [besideHanging, 'auto'],
    ['most', 2_000],
  ),
  figure('hosts', '  of its deliveries undelivered', [undeliveredBesideHanging, 'auto'], ['most', 0]),
  figure(
    'hosts',
    'a receiver that closes its connections: failed first attempts',
    [failedFirstName, 'auto'],
    ['most', 0],
  ),
  ...(['apart', 'one process'] as const).map(
    (place): Criterion => ({
      section: 'order',
      title: `p50 in a calm with an order, less that without, ms (${place})`,
      bound: 'most',
      target: 2,
      value: (of) =>
        of('order', calmName('record', place), 'auto') - of('order', calmName('none', place), 'auto'),
    }),
  ),
  ratio(
    'order',
    'a backlog in order: throughput over that without',
    [orderRushName('record'), 'auto'],
    [orderRushName('none'), 'auto'],
    ['least', 0.8],
  ),
  figure('order', 'a single record: events per second', [singleName, 'auto'], ['least', 15]),
  ratio(
    'order',
    'p95 of other records beside those that fail, over that without',
    [steadyP95Name(true), 'auto'],
    [steadyP95Name(false), 'auto'],
    ['most', 1.2],
  ),
  ...(['record', 'latest'] as const).map((ordering) =>
    figure('order', `out of order, ${ordering}`, [outOfOrderName(ordering), 'auto'], ['most', 0]),
  ),
  ratio(
    'recovery',
    'fresh deliveries beside it, p95 over that without',
    [recoveryLatency('beside it', 95), 'auto'],
    [recoveryLatency('without', 95), 'auto'],
    ['most', 2],
  ),
  ...SHARES.map((share) =>
    figure(
      'recovery',
      `how far its estimated end is off, asked at ${share} %`,
      [etaName(share), 'auto'],
      ['most', 0.2],
    ),
  ),
  figure('recovery', 'fresh deliveries that did not arrive', [undeliveredName, 'auto'], ['most', 0]),
  figure('recovery', 'requests of an attempt made before', [repeatsName, 'auto'], ['most', 0]),
  ratio(
    'growth',
    'CPU per delivery among the most stored over that among none',
    [costName(most), 'auto'],
    [costName(none), 'auto'],
    ['most', 1.2],
  ),
  figure('memory', 'ends of the worker', [restartsName, 'auto'], ['most', 0]),
  figure('memory', 'fresh deliveries, p99, ms', [freshName, 'auto'], ['most', 1_000]),
  ratio(
    'pooler',
    'calm: p50 behind a pooler over that without',
    [pooledCalm, 'pooler'],
    [pooledCalm, 'auto'],
    ['most', 1.3],
  ),
  ratio(
    'pooler',
    'rush: throughput behind a pooler over that without',
    [pooledRush, 'pooler'],
    [pooledRush, 'auto'],
    ['least', 0.7],
  ),
];

/** Judges the measurements: every criterion of the sections that ran. */
export function judge(sheet: Sheet, sections: readonly string[]): readonly Judged[] {
  return criteria
    .filter(({ section }) => sections.includes(section))
    .map(({ section, title, bound, target, value }) => {
      const values = valuesOf(sheet, value);
      const found = median(values);
      const met = bound === 'least' ? found >= target : found <= target;
      const shownTarget = `${bound === 'least' ? '≥' : '≤'} ${Number(target.toFixed(2))}`;
      return {
        section,
        title,
        target: shownTarget,
        values,
        value: found,
        met: Number.isNaN(found) ? null : met,
      };
    });
}

/** The value of each run that has all the figures needed. */
function valuesOf(sheet: Sheet, value: Criterion['value']): readonly number[] {
  const runs = Math.max(0, ...sheet.figures().map(({ values }) => values.length));
  return Array.from({ length: runs }, (_, run) =>
    value((...cell) => sheet.values(...cell)[run] ?? Number.NaN),
  ).filter((found) => !Number.isNaN(found));
}
