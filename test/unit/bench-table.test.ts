import { expect, test } from 'vitest';
import { judge } from '../../bench/acceptance.ts';
import { json, report } from '../../bench/report.ts';
import { sections } from '../../bench/sections/index.ts';
import { cpuName, perSecondName, rush } from '../../bench/sections/rush.ts';
import { createSheet } from '../../bench/sheet.ts';
import { sizesOf } from '../../bench/sizes.ts';
import { latenessAmongNeighbours } from '../../bench/trial.ts';

const how = {
  machine: '2 × a processor',
  loadBefore: 0.1,
  engine: 'embedded',
  runs: 3,
  seconds: 600,
  failures: ['calm: it rained'],
} as const;

test('the table has a column for what was measured, and a row for each figure with its median and its spread', () => {
  const sheet = createSheet();
  for (const value of [100, 300, 200]) sheet.note('rush', 'per second', 'all', value);
  sheet.note('rush', 'per second', 'floor', 7);
  sheet.note('rush', 'CPU, ms', 'all', 1.5);
  expect(report(sheet, [], how)).toBe(
    [
      'Medians of 3 runs (lowest–highest); 2 × a processor; load before the start 0.10; embedded Temporal; 10 min',
      [
        '|                  | floor |           all |',
        '| ---------------- | ----: | ------------: |',
        '| rush: per second |  7.00 | 200 (100–300) |',
        '| rush: CPU, ms    |       |          1.50 |',
      ].join('\n'),
      'Not measured: calm: it rained',
    ].join('\n\n'),
  );
});

test('a drained backlog says what the machine delivers, in one line', () => {
  const sheet = createSheet();
  sheet.note('rush', perSecondName, 'all', 2594);
  sheet.note('rush', cpuName, 'all', 0.57);
  const burst = 'in a burst 2594 deliveries per second at 0.57 ms of processor time each';
  expect(report(sheet, [], how)).toContain(`\n\nSizing of this machine: ${burst}.\n\n`);
  sheet.note('rush', perSecondName, 'undelivered', 2801);
  sheet.note('rush', cpuName, 'undelivered', 0.52);
  const without =
    'where accepted ones get no workflow 2801 deliveries per second at 0.52 ms of processor time each';
  expect(report(sheet, [], how)).toContain(`\n\nSizing of this machine: ${burst}; ${without}.\n\n`);
});

test('as JSON it has every value', () => {
  const sheet = createSheet();
  for (const value of [1, 3]) sheet.note('calm', 'p50, ms', 'all', value);
  expect(JSON.parse(json(sheet, [], how))).toMatchObject({
    ...how,
    figures: [{ section: 'calm', name: 'p50, ms', column: 'all', values: [1, 3], median: 2 }],
    acceptance: [],
  });
});

test('a criterion is met, not met, or not measured', () => {
  const sheet = createSheet();
  sheet.note('rush', perSecondName, 'all', 90);
  sheet.note('rush', perSecondName, 'attempts without Temporal', 100);
  sheet.note('rush', cpuName, 'all', 2);
  sheet.note('rush', cpuName, 'sender', 0.2);
  const judged = judge(sheet, [rush]);
  const verdict = (title: string) => judged.find((one) => one.title === title);
  expect(verdict('throughput over that of attempts without Temporal')).toMatchObject({
    value: 0.9,
    target: '≥ 0.75',
    met: true,
  });
  const cpu = verdict('CPU over the sender’s alone (0.9 ms where that is 0.14 ms)');
  expect(cpu).toMatchObject({ value: 10, target: '≤ 6.43', met: false });
  expect(verdict('workflows per second over the floor’s')).toMatchObject({ target: '≥ 0.5', met: null });
  expect(judged.every(({ section }) => section === 'rush')).toBe(true);
});

test('of several runs it is the median of their ratios that counts, not the ratio of their medians', () => {
  const sheet = createSheet();
  // The machine is twice as slow in the second run.
  for (const value of [100, 50, 100]) sheet.note('rush', perSecondName, 'attempts without Temporal', value);
  for (const value of [90, 45, 40]) sheet.note('rush', perSecondName, 'all', value);
  const judged = judge(sheet, [rush]).filter(({ met }) => met !== null);
  expect(judged).toMatchObject([{ values: [0.9, 0.9, 0.4], value: 0.9, met: true }]);
  expect(report(sheet, judged, how)).toContain('| 0.90 (0.40–0.90) | ≥ 0.75 | met |');
});

test('every section has its own name and criteria, of which none is found without figures', () => {
  expect(new Set(sections.map(({ name }) => name)).size).toBe(sections.length);
  for (const section of sections) {
    const judged = judge(createSheet(), [section]);
    expect(judged, section.name).not.toEqual([]);
    expect(judged.every(({ met }) => met === null)).toBe(true);
  }
});

test('a share of the full sizes is never below the quick ones', () => {
  const quick = sizesOf({ quick: true, scale: 1 });
  const full = sizesOf({ quick: false, scale: 1 });
  const tenth = sizesOf({ quick: false, scale: 0.1 });
  const tiny = sizesOf({ quick: false, scale: 0.000_001 });
  expect(full).toMatchObject({ backlog: 100_000, stored: [1_000_000, 5_000_000] });
  expect(tenth).toMatchObject({ backlog: 10_000, stored: [100_000, 500_000] });
  expect(tiny.backlog).toBe(quick.backlog);
});

test('a delivery is late among its neighbours only if it is later than those committed around it', () => {
  const growing = Array.from({ length: 100 }, (_, index) => index * 100);
  expect(Math.max(...latenessAmongNeighbours(growing))).toBeLessThanOrEqual(1_000);
  const overtaken = growing.with(50, 30_000);
  const late = latenessAmongNeighbours(overtaken);
  expect(late.indexOf(Math.max(...late))).toBe(50);
  expect(late.filter((ms) => ms > 2_000)).toHaveLength(1);
});
