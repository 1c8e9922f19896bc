/**
 * What Waybill is to reach, as ratios of figures of one run.
 * @module
 */
import { latencyName } from './sections/calm.ts';
import { cpuName, failingName, perSecondName, slowName, temporalName } from './sections/rush.ts';
import type { Column, Sheet } from './sheet.ts';

/** A line of the acceptance. */
export interface Criterion {
  readonly section: string;
  readonly title: string;
  /** At least, or at most, so much. */
  readonly bound: 'least' | 'most';
  readonly target: number;
  /** NaN where a figure that it needs was not measured. */
  readonly value: (of: (section: string, name: string, column: Column) => number) => number;
}

/** A criterion with what was found. */
export interface Judged {
  readonly section: string;
  readonly title: string;
  readonly target: string;
  readonly value: number;
  /** Null where it was not measured. */
  readonly met: boolean | null;
}

const ratio = (
  section: string,
  [name, column]: readonly [string, Column],
  [otherName, other]: readonly [string, Column],
): Criterion['value'] => {
  return (of) => of(section, name, column) / of(section, otherName, other);
};

const criteria: readonly Criterion[] = [
  {
    section: 'calm',
    title: 'auto: p99 over p50 from COMMIT, at half of capacity',
    bound: 'most',
    target: 4,
    value: ratio('calm', [latencyName(99, 50), 'auto'], [latencyName(50, 50), 'auto']),
  },
  {
    section: 'rush',
    title: 'each: throughput over the floor’s',
    bound: 'least',
    target: 0.85,
    value: ratio('rush', [perSecondName, 'each'], [perSecondName, 'floor']),
  },
  {
    section: 'rush',
    title: 'each: CPU over the floor’s',
    bound: 'most',
    target: 1.3,
    value: ratio('rush', [cpuName, 'each'], [cpuName, 'floor']),
  },
  {
    section: 'rush',
    title: 'batch: throughput over that without Temporal',
    bound: 'least',
    target: 0.75,
    value: ratio('rush', [perSecondName, 'batch'], [perSecondName, 'no Temporal']),
  },
  {
    section: 'rush',
    title: 'batch: throughput over that of each',
    bound: 'least',
    target: 40,
    value: ratio('rush', [perSecondName, 'batch'], [perSecondName, 'each']),
  },
  {
    section: 'rush',
    title: 'batch: CPU over the sender’s alone (0.9 ms over 0.14 ms)',
    bound: 'most',
    target: 0.9 / 0.14,
    value: ratio('rush', [cpuName, 'batch'], [cpuName, 'sender']),
  },
  {
    section: 'rush',
    title: 'batch: Temporal’s share of the CPU',
    bound: 'most',
    target: 1 / 3,
    value: ratio('rush', [temporalName, 'batch'], [cpuName, 'batch']),
  },
  {
    section: 'rush',
    title: 'batch: throughput with 2 % slow over that without',
    bound: 'least',
    target: 0.5,
    value: ratio('rush', [slowName, 'batch'], [perSecondName, 'batch']),
  },
  {
    section: 'rush',
    title: 'batch: throughput with 5 % failing over that without',
    bound: 'least',
    target: 1 / 3,
    value: ratio('rush', [failingName, 'batch'], [perSecondName, 'batch']),
  },
];

/** Judges what was measured: every criterion of the sections that ran. */
export function judge(sheet: Sheet, sections: readonly string[]): readonly Judged[] {
  return criteria
    .filter(({ section }) => sections.includes(section))
    .map(({ section, title, bound, target, value }) => {
      const found = value(sheet.value);
      const met = bound === 'least' ? found >= target : found <= target;
      const shownTarget = `${bound === 'least' ? '≥' : '≤'} ${Number(target.toFixed(2))}`;
      return { section, title, target: shownTarget, value: found, met: Number.isNaN(found) ? null : met };
    });
}
