/** What might hold the API's event loop: the largest of everything that a client may send or ask for. */
import { shown, table } from '../statistics.ts';
import { type Client, skuOf } from './client.ts';
import type { Tree } from './tree.ts';

interface Large {
  readonly name: string;
  run(client: Client): Promise<unknown>;
}

/** The most lines of an order; with their lots its record is nearly as large as a record may be. */
const ORDER_LINES = 1000;
const largeOrder = (eshopOrderId: string) => ({
  eshopOrderId,
  orderProducts: Array.from({ length: ORDER_LINES }, (_, index) => ({
    sku: skuOf(index),
    quantity: 1,
    unitPrice: '249.90',
    vatRate: '21',
    lot: 'L'.repeat(64),
  })),
});
const movement = (note: string) =>
  JSON.stringify({
    operation: 'stockMovement',
    body: { type: 'stock_correction', sku: skuOf(1), count: 1, note },
  });
const status = (index: number, to: string) =>
  JSON.stringify({ operation: 'orderStatus', id: `large-${index}`, body: { status: to } });
const LARGE = 50;
const largeOrders = Array.from({ length: LARGE }, (_, index) => index);

/** In their order: the later ones use the orders of the earlier ones. */
const larges: readonly Large[] = [
  { name: 'import of 300,000 empty lines', run: (client) => client.import('\n'.repeat(300_000)) },
  {
    name: 'import of 5,000 lines of 4 KiB',
    run: (client) =>
      client.import(Array.from({ length: 5_000 }, () => movement('n'.repeat(4_000))).join('\n')),
  },
  {
    name: 'import of 20 lines of 1 MiB, refused',
    run: (client) =>
      client.import(Array.from({ length: 20 }, () => movement('n'.repeat(1024 * 1024 - 200))).join('\n')),
  },
  {
    name: `orders of ${ORDER_LINES} lines`,
    async run(client) {
      for (const index of largeOrders) await client.shop('/orders', largeOrder(`large-${index}`));
    },
  },
  {
    name: `import of the status of ${LARGE} of these`,
    run: (client) => client.import(largeOrders.map((index) => status(index, 'suspended')).join('\n')),
  },
  {
    name: `import of their status, ${ORDER_LINES} lines reserved each`,
    run: (client) => client.import(largeOrders.map((index) => status(index, 'received')).join('\n')),
  },
  { name: 'list of 100 orders of ordinary size', run: (client) => client.read('/orders?items=100') },
];

/** The table of the longest holds. */
export async function measureHolds(trees: readonly Tree[], webhooks: number): Promise<string> {
  const rows: string[][] = [];
  for (const { name, run } of larges) {
    const held: string[] = [];
    for (const tree of trees) {
      await tree.longestHold();
      await run(tree.client(webhooks));
      held.push(shown(await tree.longestHold()));
    }
    rows.push([name, ...held]);
    console.error(rows.at(-1)?.join(', '));
  }
  return table(['the event loop is held, at the longest, ms', ...trees.map(({ name }) => name)], rows);
}
