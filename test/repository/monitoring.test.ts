/** The delivered files for Prometheus and Grafana name only series that `/metrics` has. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  ATTEMPT_LATE_SECONDS,
  CHANGE_LATE_SECONDS,
  HELD_UP_LATE_SECONDS,
  MAIL_LATE_SECONDS,
  MIN_DAYS_AHEAD,
  QUEUE_LATE_SECONDS,
} from '../../src/cli/status.ts';
import { createMetrics, watchProcess } from '../../src/metrics/metrics.ts';
import { selectedIn } from '../support/repository/expressions.ts';
import { labelsOf } from '../support/repository/metrics-table.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const rule = v.object({
  record: v.optional(v.string()),
  alert: v.optional(v.string()),
  expr: v.string(),
  for: v.optional(v.string()),
  labels: v.optional(v.object({ severity: v.picklist(['page', 'ticket']) })),
  annotations: v.optional(v.strictObject({ summary: v.string(), description: v.string() })),
});
const ruleFile = v.object({ groups: v.array(v.object({ name: v.string(), rules: v.array(rule) })) });
const rulesOf = (path: string) => v.parse(ruleFile, parse(read(path))).groups.flatMap(({ rules }) => rules);
const recorded = rulesOf('monitoring/prometheus/recording.yml');
const alerts = rulesOf('monitoring/prometheus/alerts.yml');

const target = v.object({ refId: v.string(), expr: v.string(), legendFormat: v.string() });
const panelSchema = v.object({
  id: v.number(),
  type: v.picklist(['row', 'stat', 'timeseries']),
  title: v.pipe(v.string(), v.minLength(1)),
  description: v.optional(v.string()),
  gridPos: v.object({ x: v.number(), y: v.number(), w: v.number(), h: v.number() }),
  targets: v.optional(v.array(target)),
});
const dashboard = v.parse(
  v.object({
    uid: v.string(),
    schemaVersion: v.number(),
    templating: v.object({ list: v.array(v.object({ name: v.string(), type: v.string() })) }),
    panels: v.array(panelSchema),
  }),
  JSON.parse(read('monitoring/grafana/dashboards/waybill.json')),
);
const shown = dashboard.panels.flatMap(({ targets = [] }) => targets);

/** From Temporal's SDK; test/e2e/metrics.test.ts checks that they exist. */
const OF_THE_SDK: Readonly<Record<string, readonly string[]>> = {
  temporal_worker_task_slots_available: ['worker_type', 'task_queue'],
  temporal_request_total: ['operation'],
  temporal_request_failure_total: ['operation'],
  temporal_workflow_task_execution_failed_total: ['workflow_type', 'failure_reason'],
};
/** Labels that Prometheus adds to every series. */
const OF_PROMETHEUS = ['job', 'instance'];

/** The labels that an expression groups or joins by. */
function groupedBy(expression: string): string[] {
  const found = expression.matchAll(/\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g);
  return [...found]
    .flatMap(([, inner = '']) => inner.split(',').map((label) => label.trim()))
    .filter((label) => label !== '');
}

/** All series with their labels. */
const series = new Map<string, readonly string[]>([...Object.entries(OF_THE_SDK), ['up', []]]);
const metrics = createMetrics();
watchProcess(metrics);
for (const metric of metrics.registry.getMetricsAsArray()) {
  const names = labelsOf(metric);
  series.set(metric.name, names);
  series.set(`${metric.name}_bucket`, [...names, 'le']);
  for (const suffix of ['_sum', '_count']) series.set(`${metric.name}${suffix}`, names);
}
for (const { record = '', expr } of recorded) {
  series.set(
    record,
    groupedBy(expr).filter((label) => label !== 'le'),
  );
}

function problemsOf(expression: string): string[] {
  const selected = selectedIn(expression);
  const unknown = selected.filter(({ name }) => !series.has(name)).map(({ name }) => `there is no ${name}`);
  const known = new Set([...OF_PROMETHEUS, ...selected.flatMap(({ name }) => series.get(name) ?? [])]);
  const unknownLabels = selected.flatMap(({ name, labels }) =>
    labels
      .filter((label) => ![...OF_PROMETHEUS, ...(series.get(name) ?? [])].includes(label))
      .map((label) => `${name} has no label ${label}`),
  );
  const grouped = groupedBy(expression).filter((label) => !known.has(label));
  return [...unknown, ...unknownLabels, ...grouped.map((label) => `nothing has the label ${label}`)];
}

it.each(recorded.map(({ record, expr }) => [record ?? '', expr] as const))(
  'the rule %s uses existing series',
  (name, expr) => {
    expect(name).toMatch(/^waybill:\w+:\w+$/);
    expect(selectedIn(expr).length).toBeGreaterThan(0);
    expect(problemsOf(expr)).toEqual([]);
  },
);

it.each(alerts.map((each) => [each.alert ?? '', each] as const))(
  'the alert %s uses existing series, is tested and is documented',
  (name, { expr, labels, annotations }) => {
    expect(problemsOf(expr)).toEqual([]);
    expect(labels).toBeDefined();
    expect(annotations).toBeDefined();
    const cases = read('monitoring/prometheus/alerts.test.yml');
    expect(cases.split(`alertname: ${name}\n`).length, 'it is seen to fire').toBeGreaterThan(1);
    const chapter = labels?.severity === 'page' ? 'alerts' : 'tickets';
    expect(read(`docs/handbook/${chapter}.md`)).toContain(`## ${name}\n\n**${annotations?.summary}**\n`);
  },
);

it.each([
  ['WaybillChangesNotPassedOn', CHANGE_LATE_SECONDS],
  ['WaybillAttemptsOverdue', ATTEMPT_LATE_SECONDS],
  ['WaybillQueueNotClaimed', QUEUE_LATE_SECONDS],
  ['WaybillCursorsHeldUp', HELD_UP_LATE_SECONDS],
  ['WaybillMailsFailing', MAIL_LATE_SECONDS],
  ['WaybillPartitionsRunOut', `${MIN_DAYS_AHEAD} * 86400`],
])('%s has the same limit as `waybill status`', (name, bound) => {
  const { expr = '' } = alerts.find(({ alert }) => alert === name) ?? {};
  expect(expr).toMatch(new RegExp(`[<>] ${String(bound).replace('*', '[*]')}\\b`));
});

it.each(shown.map(({ expr }) => [expr]))('the dashboard uses existing series: %s', (expr) => {
  expect(problemsOf(expr)).toEqual([]);
  expect(expr).toContain('job="$job"');
});

it('panels of the dashboard have unique ids and do not overlap', () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  const taken = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
  );
  expect(new Set(taken).size).toBe(taken.length);
  for (const { gridPos } of dashboard.panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'job']);
});

it('the compose file mounts existing files, pins its images, and opens local ports only', () => {
  const text = read('docker-compose.monitoring.yml');
  const { services } = v.parse(
    v.object({
      services: v.record(
        v.string(),
        v.object({ image: v.string(), volumes: v.array(v.string()), ports: v.array(v.string()) }),
      ),
    }),
    parse(text),
  );
  for (const { image, volumes, ports } of Object.values(services)) {
    expect(image).toMatch(/:v?\d+\.\d+\.\d+$/);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    for (const volume of volumes.filter((each) => each.startsWith('.'))) {
      const [folder = ''] = volume.split(':');
      expect(existsSync(join(root, folder)), folder).toBe(true);
      expect(volume).toMatch(/:ro$/);
    }
  }
  // A password has no default.
  expect(text).not.toMatch(/^\s*\w*PASSWORD: *[^\s$]/m);
  expect(text).toContain('${GRAFANA_PASSWORD:?');
});

it('Prometheus scrapes the processes of the compose files at their metrics ports', () => {
  const { scrape_configs: scraped } = parse(read('monitoring/prometheus/prometheus.yml'));
  const names = { 'docker-compose.temporal.yml': ['api', 'worker'], 'compose.yml': ['waybill'] };
  expect(scraped).toMatchObject([
    { job_name: 'waybill', dns_sd_configs: [{ names: Object.values(names).flat() }] },
  ]);
  for (const [file, services] of Object.entries(names))
    for (const service of services) {
      const { METRICS_PORT } = parse(read(file), { merge: true }).services[service].environment;
      expect(String(scraped[0].dns_sd_configs[0].port), service).toBe(METRICS_PORT);
    }
});
