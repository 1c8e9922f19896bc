/** What the measuring of the acceptance prints. */
import { median, shown, table } from '../statistics.ts';
import type { Measure } from './scenarios.ts';

/** Processor time of one order or line, in milliseconds. */
const each = ({ apiMs, postgresMs, units }: Measure) => (apiMs + postgresMs) / units;

/** A measurement in one line. */
export function oneMeasure(measure: Measure): string {
  const { tree, scenario, webhooks, units, seconds, heldMs } = measure;
  return `${tree}, ${scenario}, ${webhooks} webhooks: ${shown(each(measure))} ms each, ${shown(units / seconds)} per second, held ${shown(heldMs)} ms`;
}

/** The medians; where two checkouts were measured, their ratio as well. */
export function acceptReport(measures: readonly Measure[]): string {
  const trees = [...new Set(measures.map(({ tree }) => tree))];
  const kinds = [...new Map(measures.map((one) => [`${one.scenario} ${one.webhooks}`, one])).values()];
  const rows = kinds.map(({ scenario, webhooks }) => {
    const of = (tree: string) =>
      measures.filter((one) => one.tree === tree && one.scenario === scenario && one.webhooks === webhooks);
    const middle = (tree: string, value: (measure: Measure) => number) => median(of(tree).map(value));
    const cells = trees.flatMap((tree) => [
      shown(middle(tree, each)),
      shown(middle(tree, ({ apiMs, units }) => apiMs / units)),
      shown(middle(tree, ({ postgresMs, units }) => postgresMs / units)),
      shown(middle(tree, ({ units, seconds }) => units / seconds)),
      shown(Math.max(...of(tree).map(({ heldMs }) => heldMs))),
    ]);
    const [before = '', now = ''] = trees;
    const ratio = trees.length === 2 ? [shown(middle(now, each) / middle(before, each))] : [];
    return [scenario, String(webhooks), ...cells, ...ratio];
  });
  const heads = trees.flatMap((tree) => [`${tree}: CPU, ms`, 'API', 'Postgres', 'per second', 'held, ms']);
  const ratio = trees.length === 2 ? ['ratio of CPU'] : [];
  return `${table(['', 'webhooks', ...heads, ...ratio], rows)}

Medians of the rounds; the longest hold of the event loop in any. CPU is user and system time of the API's process and of
Postgres with all of its own, for one order or one line, by /proc. Nothing dispatches the deliveries.
`;
}
