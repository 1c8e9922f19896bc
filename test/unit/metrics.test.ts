/** The series of a process. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createMetrics, statusClass } from '../../src/metrics/metrics.ts';
import { countPasses } from '../../src/metrics/worker-metrics.ts';
import { sampleOf, samplesOf } from '../support/metrics.ts';
import { metricsTable } from '../support/repository/metrics-table.ts';

test('the documented table lists the defined series', () => {
  const document = readFileSync(new URL('../../docs/handbook/observe.md', import.meta.url), 'utf8');
  expect(document).toContain(`\n${metricsTable()}\n`);
});

test('counters start at zero, and unknown values are not shown', async () => {
  const samples = samplesOf(await createMetrics().registry.metrics());
  expect(sampleOf(samples, 'waybill_attempts_total', { status: '5xx' })).toBe(0);
  for (const outcome of ['delivered', 'failed', 'expired', 'canceled', 'superseded']) {
    const labels = { outcome, event_type: 'CREATE_STOCK_MOVEMENT_QUALITY_RELEASE' };
    expect(sampleOf(samples, 'waybill_deliveries_total', labels), outcome).toBe(0);
  }
  for (const name of ['waybill_database_up', 'waybill_queue_oldest_seconds', 'waybill_deliveries_open']) {
    expect(sampleOf(samples, name)).toBeUndefined();
  }
});

test('the loops of the relay start at zero', async () => {
  const metrics = createMetrics();
  countPasses(metrics);
  const samples = samplesOf(await metrics.registry.metrics());
  expect(sampleOf(samples, 'waybill_relay_passes_total', { loop: 'recoveries', result: 'failed' })).toBe(0);
});

test.each([
  [200, '2xx'],
  [204, '2xx'],
  [302, '3xx'],
  [410, '4xx'],
  [599, '5xx'],
  [600, 'none'],
  [101, 'none'],
  [null, 'none'],
] as const)('the class of %s is %s', (status, name) => {
  expect(statusClass(status)).toBe(name);
});
