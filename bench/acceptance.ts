/** Checks criteria: ratios of figures of one run, which a slow machine does not change, or their median over runs. */
import type { Criterion } from './criteria.ts';
import type { Section } from './sections/section.ts';
import type { Sheet } from './sheet.ts';
import { median } from './statistics.ts';

/** A criterion with its result. */
export interface CriterionResult {
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

/** Checks the measurements by every criterion of these sections. */
export function evaluate(sheet: Sheet, sections: readonly Section[]): readonly CriterionResult[] {
  return sections.flatMap(({ name: section, criteria }) =>
    criteria.map(({ title, bound, value }) => {
      const values = valuesOf(sheet, section, value);
      const measured = median(values);
      const [met, sign, target] =
        'least' in bound
          ? [measured >= bound.least, '≥', bound.least]
          : [measured <= bound.most, '≤', bound.most];
      return {
        section,
        title,
        target: `${sign} ${Number(target.toFixed(2))}`,
        values,
        value: measured,
        met: Number.isNaN(measured) ? null : met,
      };
    }),
  );
}

/** The value of each run that has all the figures needed. */
function valuesOf(sheet: Sheet, section: string, value: Criterion['value']): readonly number[] {
  const runs = Math.max(0, ...sheet.figures().map(({ values }) => values.length));
  return Array.from({ length: runs }, (_, run) =>
    value((...cell) => sheet.values(section, ...cell)[run] ?? Number.NaN),
  ).filter((found) => !Number.isNaN(found));
}
