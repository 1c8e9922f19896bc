/** What is accepted in a round, and what it cost. */
import { cpuMilliseconds, difference } from '../cpu.ts';
import { benchOrder } from '../shop.ts';
import { type Client, skuOf } from './client.ts';
import type { Tree } from './tree.ts';

/** One scenario of one round. */
export interface Measure {
  readonly tree: string;
  readonly scenario: string;
  readonly webhooks: number;
  /** Orders or lines. */
  readonly units: number;
  readonly seconds: number;
  /** Processor time of each in milliseconds, user and system. */
  readonly apiMs: number;
  readonly postgresMs: number;
  /** The longest that the API's event loop was held, in milliseconds. */
  readonly heldMs: number;
}

/** Something to be accepted. */
export interface Scenario {
  readonly name: string;
  /** @returns how many orders or lines it was */
  run(client: Client, orders: number, unique: string): Promise<number>;
}

const CLIENTS = 8;

/** Every scenario, in the order in which they run: the orders that the first one creates go on in the second. */
export const scenarios: readonly Scenario[] = [
  {
    name: `orders one by one, ${CLIENTS} clients`,
    async run(client, orders, unique) {
      let next = 0;
      const play = async () => {
        while (next < orders) {
          next += 1;
          await client.shop(
            '/orders',
            benchOrder(`${unique}-${next}`, [skuOf(next), skuOf(next + 1), skuOf(next + 2)]),
          );
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, play));
      return orders;
    },
  },
  {
    name: 'import: status of orders',
    run: (client, orders, unique) =>
      importLines(
        client,
        ['received', 'processing'].flatMap((status) =>
          Array.from({ length: orders }, (_, index) => ({
            operation: 'orderStatus',
            id: `${unique}-${index + 1}`,
            idempotencyKey: `${unique}-${status}-${index}`,
            body: { status },
          })),
        ),
      ),
  },
  {
    name: 'import: stock of products',
    run: (client, orders, unique) =>
      importLines(
        client,
        Array.from({ length: 2 * orders }, (_, index) => ({
          operation: 'stockMovement',
          idempotencyKey: `${unique}-stock-${index}`,
          body: { type: 'stock_correction', sku: skuOf(index), count: '1.5', note: 'counted' },
        })),
      ),
  },
];

async function importLines(client: Client, lines: readonly object[]): Promise<number> {
  const statuses = await client.import(lines.map((line) => JSON.stringify(line)).join('\n'));
  if (statuses.get(200) !== lines.length) throw new Error(`Results by status: ${[...statuses].join(' ')}`);
  return lines.length;
}

/** How often each scenario ran with each e-shop: the names of its records follow from that. */
const runs = new Map<string, number>();

/** Runs a scenario. */
export async function runScenario(
  tree: Tree,
  scenario: Scenario,
  webhooks: number,
  orders: number,
): Promise<Measure> {
  const key = `${tree.name} ${scenario.name} ${webhooks}`;
  const run = runs.get(key) ?? 0;
  runs.set(key, run + 1);
  await tree.longestHold();
  const before = cpuMilliseconds(tree.processes);
  const started = performance.now();
  const units = await scenario.run(tree.client(webhooks), orders, `run-${run}`);
  const seconds = (performance.now() - started) / 1000;
  const used = difference(cpuMilliseconds(tree.processes), before);
  return {
    tree: tree.name,
    scenario: scenario.name,
    webhooks,
    units,
    seconds,
    apiMs: used.api ?? Number.NaN,
    postgresMs: used.postgres ?? Number.NaN,
    heldMs: await tree.longestHold(),
  };
}
