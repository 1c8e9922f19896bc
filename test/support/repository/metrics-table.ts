/** The table of series in docs/handbook/observe.md. */
import { createMetrics } from '../../../src/metrics/metrics.ts';

/** One row per series, in the order of their definition. */
export function metricsTable(): string {
  const { registry, ...series } = createMetrics();
  const rows = Object.values(series).map((metric) => {
    const labels = labelsOf(metric).map((label) => `\`${label}\``);
    const [name, help] = ['name', 'help'].map((key) => String(Reflect.get(metric, key)));
    return `| \`${name}\` | ${labels.join(', ')} | ${help} |`;
  });
  return ['| series | labels | meaning |', '|---|---|---|', ...rows].join('\n');
}

/** The labels of a series: the library keeps them, but its types do not declare them. */
export function labelsOf(metric: object): string[] {
  const labels: unknown = Reflect.get(metric, 'labelNames');
  return Array.isArray(labels) ? labels.map(String) : [];
}
