/** The report of the bench: no other tool checks how its figures are put together. */
import { expect, test } from 'vitest';
import { judge } from '../../bench/acceptance.ts';
import { report } from '../../bench/report.ts';
import { perSecondName, rush } from '../../bench/sections/rush.ts';
import { createSheet } from '../../bench/sheet.ts';

test('each figure is a row with its median and range; a criterion is judged by the median of the ratios, not by the ratio of the medians', () => {
  const sheet = createSheet();
  // The machine is twice as slow in the second run.
  for (const value of [100, 50, 100]) sheet.note('rush', perSecondName, 'attempts without Temporal', value);
  for (const value of [90, 45, 40]) sheet.note('rush', perSecondName, 'all', value);
  const judged = judge(sheet, [rush]).filter(({ met }) => met !== null);
  const how = {
    machine: '2 × a processor',
    loadBefore: 0.1,
    runs: 3,
    seconds: 600,
    failures: ['calm: it rained'],
  } as const;
  const printed = report(sheet, judged, how);
  expect(printed).toContain('| rush: backlog: deliveries per second | 45.0 (40.0–90.0) |');
  expect(printed).toMatch(/\| 0\.90 \(0\.40–0\.90\) \| ≥ 0\.75 \| met \|/);
  expect(printed).toContain('Not measured: calm: it rained');
});
