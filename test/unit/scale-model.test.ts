/** The model behind docs/scale.md: whole cells, limited by the scarcest resource; the page shows its results. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { MEASURED, scaleOf, scaleTables, thousandfold } from '../../bench/scale-model.ts';

test('the page has the tables that the model prints', () => {
  const page = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/scale.md'), 'utf8');
  expect(page).toContain(scaleTables(thousandfold));
});

test('storage or processors of Postgres decide how many cells there are, and one is the least', () => {
  const small = scaleOf({ ...thousandfold, events: 10 });
  expect(small.cells).toBe(1);
  const kept = scaleOf(thousandfold);
  expect(kept.cells).toBe(kept.cellsByStorage);
  const brief = scaleOf({ ...thousandfold, postgresTib: 1_000 });
  expect(brief.cells).toBe(brief.cellsByCpu);
  expect(brief.cell.deliveriesAtPeak).toBeLessThanOrEqual(brief.cell.mostDeliveries);
  expect(scaleOf({ ...thousandfold, events: 20_000 }).cells).toBeGreaterThan(1.9 * kept.cells);
});

test('what fails costs a workflow for every retry', () => {
  const all = scaleOf({ ...thousandfold, failing: 0 });
  const one = scaleOf({ ...thousandfold, failing: 0.5, retries: 2 });
  expect(all.cpu.temporal).toBeCloseTo(MEASURED.attempt.temporal);
  expect(one.cpu.temporal - all.cpu.temporal).toBeCloseTo(MEASURED.workflow.temporal);
  expect(one.cell.shards).toBeGreaterThan(all.cell.shards);
});
