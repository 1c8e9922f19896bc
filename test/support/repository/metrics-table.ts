/** The table of series in docs/handbook/observe.md. */
import { createMetrics } from '../../../src/metrics/metrics.ts';

/** One row per series, in the order of their definition. */
export function metricsTable(): string {
  const { registry, ...series } = createMetrics();
  const rows = Object.values(series).map((metric) => {
    const { name, help, labelNames } = described(metric);
    const labels = labelNames.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${labels} | ${help} |`;
  });
  return ['| series | labels | meaning |', '|---|---|---|', ...rows].join('\n');
}

/** The library keeps these, but its types do not declare them. */
function described(metric: object): { name: string; help: string; labelNames: readonly string[] } {
  const text = (key: string) => String(Reflect.get(metric, key));
  const labels: unknown = Reflect.get(metric, 'labelNames');
  return {
    name: text('name'),
    help: text('help'),
    labelNames: Array.isArray(labels) ? labels.map(String) : [],
  };
}
