/**
 * Whether the criteria of the sections are met. Of several runs it is the median of their ratios, since a machine that is slower for
 * a while is slower for all that one run compares.
 */
import type { Criterion } from './criteria.ts';
import type { Section } from './sections/section.ts';
import type { Sheet } from './sheet.ts';
import { median } from './statistics.ts';

/** A criterion with what was found. */
export interface Judged {
  readonly section: string;
  readonly title: string;
  readonly target: string;
  /** One per run. */
  readonly values: readonly number[];
  /** Their median; NaN where it was not measured. */
  readonly value: number;
  /** Null where it was not measured. */
  readonly met: boolean | null;
}

/** Judges what was measured: every criterion of these sections. */
export function judge(sheet: Sheet, sections: readonly Section[]): readonly Judged[] {
  return sections.flatMap(({ name: section, criteria }) =>
    criteria.map(({ title, bound, value }) => {
      const values = valuesOf(sheet, section, value);
      const found = median(values);
      const [met, sign, target] =
        'least' in bound ? [found >= bound.least, '≥', bound.least] : [found <= bound.most, '≤', bound.most];
      return {
        section,
        title,
        target: `${sign} ${Number(target.toFixed(2))}`,
        values,
        value: found,
        met: Number.isNaN(found) ? null : met,
      };
    }),
  );
}

/** What each run found, as far as it found all that is needed. */
function valuesOf(sheet: Sheet, section: string, value: Criterion['value']): readonly number[] {
  const runs = Math.max(0, ...sheet.figures().map(({ values }) => values.length));
  return Array.from({ length: runs }, (_, run) =>
    value((...cell) => sheet.values(section, ...cell)[run] ?? Number.NaN),
  ).filter((found) => !Number.isNaN(found));
}
