/** The model behind docs/scale.md: whole cells, limited by the scarcest resource; the page shows its results. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { dayTable, ordinaryDay } from '../../bench/ordinary-day.ts';
import { MEASURED, scaleOf, scaleTables, thousandfold } from '../../bench/scale-model.ts';

const read = (page: string) => readFileSync(join(resolve(import.meta.dirname, '../..'), page), 'utf8');

test('the page has the tables that the model prints', () => {
  expect(read('docs/scale.md')).toContain(scaleTables(thousandfold));
});

test('storage or processors of Postgres decide how many cells there are, and one is the least', () => {
  const small = scaleOf({ ...thousandfold, events: 10 });
  expect(small.cells).toBe(1);
  const kept = scaleOf(thousandfold);
  expect(kept.cells).toBe(kept.cellsByStorage);
  const brief = scaleOf({ ...thousandfold, postgresTib: 1_000 });
  expect(brief.cells).toBe(brief.cellsByCpu);
  expect(brief.cell.deliveriesAtPeak).toBeLessThanOrEqual(brief.cell.maxDeliveries);
  expect(scaleOf({ ...thousandfold, events: 20_000 }).cells).toBeGreaterThan(1.9 * kept.cells);
});

test('what fails costs a workflow for every retry', () => {
  const all = scaleOf({ ...thousandfold, failing: 0 });
  const one = scaleOf({ ...thousandfold, failing: 0.5, retries: 2 });
  expect(all.cpu.temporal).toBeCloseTo(MEASURED.attempt.temporal);
  expect(one.cpu.temporal - all.cpu.temporal).toBeCloseTo(MEASURED.workflow.temporal);
  expect(one.cell.shards).toBeGreaterThan(all.cell.shards);
});

test('the handbook and the README say what an ordinary day costs, as it is computed', () => {
  const day = ordinaryDay(20_000);
  expect(read('docs/handbook/scale.md')).toContain(`\n${dayTable([2_000, 20_000, 100_000])}\n`);
  expect(read('docs/handbook/scale.md')).toContain(`${day.cpuMs.toFixed(1)} ms`);
  const said = read('README.md').replaceAll('\n', ' ');
  expect(day.cores).toBe(2);
  expect(Math.ceil(day.storedGb / 10) * 10).toBe(30);
  for (const figure of [
    `its ${day.deliveries.toLocaleString('en')} deliveries a day`,
    `${day.atPeak.toFixed(0)} per second in the busiest hour`,
    `${day.coresAtPeak.toFixed(2)} of a core busy then, and ${day.coresOnAverage.toFixed(2)} on average`,
  ])
    expect(said).toContain(figure);
});

test('a day of twice the orders takes twice as much, and one core at least', () => {
  const [day, twice] = [ordinaryDay(20_000), ordinaryDay(40_000)];
  expect(twice.coresAtPeak).toBeCloseTo(2 * day.coresAtPeak);
  expect(twice.storedGb).toBeCloseTo(2 * day.storedGb);
  expect(ordinaryDay(1).cores).toBe(1);
});
