/** What an ordinary day and an outage cost, as docs/handbook/scale.md and the README say it. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { dayTable, ordinaryDay, outageTable, receiversOutage } from '../../bench/ordinary-day.ts';

const read = (page: string) => readFileSync(join(resolve(import.meta.dirname, '../..'), page), 'utf8');

test('the handbook and the README state the computed cost of an ordinary day', () => {
  const day = ordinaryDay(20_000);
  expect(read('docs/handbook/scale.md')).toContain(`\n${dayTable([2_000, 20_000, 100_000])}\n`);
  expect(read('docs/handbook/scale.md')).toContain(`${day.cpuMs.toFixed(1)} ms`);
  const said = read('README.md').replaceAll('\n', ' ');
  expect(day.cores).toBe(2);
  for (const figure of [
    `${day.diskGb} GB of disk`,
    `its ${day.deliveries.toLocaleString('en')} deliveries a day`,
    `${day.atPeak.toFixed(0)} per second in the busiest hour`,
    `${day.coresAtPeak.toFixed(2)} of a core busy then, and ${day.coresOnAverage.toFixed(2)} on average`,
  ])
    expect(said).toContain(figure);
});

test('the handbook states the computed cost of an outage of receivers', () => {
  const handbook = read('docs/handbook/scale.md');
  expect(handbook).toContain(`\n${outageTable(20_000, [1, 4])}\n`);
  const { atPeak } = ordinaryDay(20_000);
  const hour = receiversOutage(20_000, 1);
  expect(hour.retries).toBe(10);
  expect(hour.cores).toBeCloseTo((atPeak * hour.retriesOnAverage * 38.4) / 1_000, 6);
  expect(receiversOutage(20_000, 48).retries).toBe(20);
});
