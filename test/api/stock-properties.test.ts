/**
 * Whatever is done at once, the stock of a product is what its movements and reservations add up to.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareDecimals, sumDecimals } from '../../src/domain/decimal.ts';
import { negated } from '../../src/domain/stock.ts';
import { type StockMovementRecord, stockMovementTypes } from '../../src/domain/stock-movement-schema.ts';
import { createTestApi, type TestApi } from '../support/api.ts';
import { stockedProduct } from '../support/orders.ts';

let api: TestApi;
let runs = 0;

beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.drop());

const units = fc.integer({ min: 1, max: 6_000 }).map((thousandths) => String(thousandths / 1000));
const which = fc.integer({ min: 0, max: 1 });
const movement = fc.record({
  kind: fc.constant('movement' as const),
  type: fc.constantFrom(...stockMovementTypes),
  product: which,
  units,
  takes: fc.boolean(),
});
/** An order and how far it gets. */
const order = fc.record({
  kind: fc.constant('order' as const),
  lines: fc.array(fc.tuple(which, units), { minLength: 1, maxLength: 3 }),
  ends: fc.constantFrom('received', 'productsNotAvailable', 'canceled', 'onTheWay'),
});
const leaving = ['received', 'processing', 'packed', 'waitingForCarrier', 'onTheWay'];

/** What an arbitrary makes. */
type Chosen<Made> = Made extends fc.Arbitrary<infer Value> ? Value : never;

type Operation = { readonly step: () => Promise<number> }[];

function operationOf(
  what: Chosen<typeof movement> | Chosen<typeof order>,
  skus: readonly string[],
  id: string,
): Operation {
  if (what.kind === 'movement') {
    const hold = what.type.startsWith('quality');
    const count = what.takes && !hold ? negated(what.units) : what.units;
    const body = { type: what.type, sku: skus[what.product], count };
    return [
      { step: async () => (await api.warehouse('POST', '/v21/warehouse/stock-movements', body)).status },
    ];
  }
  const orderProducts = what.lines.map(([product, quantity]) => ({ sku: skus[product], quantity }));
  const statuses = what.ends === 'onTheWay' ? leaving : [...new Set(['received', what.ends])];
  return [
    { step: async () => (await api.shop('POST', '/v21/orders', { eshopOrderId: id, orderProducts })).status },
    ...statuses.map((status) => ({
      step: async () => (await api.warehouse('PUT', `/v21/warehouse/orders/${id}/status`, { status })).status,
    })),
  ];
}

const isHold = ({ type }: StockMovementRecord) => type === 'quality_hold' || type === 'quality_release';

async function consistent(sku: string, open: readonly { sku: string; quantity: string }[]): Promise<void> {
  const { stock } = (await api.shop('GET', `/v2/products/${sku}`)).data;
  const movements: StockMovementRecord[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await api.shop('GET', `/v2/stock-movements?sku=${sku}&items=100&page=${page}`);
    movements.push(...answer.data);
    if (answer.data.length < 100) break;
  }
  const counts = (some: StockMovementRecord[]) => sumDecimals(some.map(({ count }) => count));
  expect(sumDecimals([stock.available, stock.reserved, stock.onHold])).toBe(
    counts(movements.filter((each) => !isHold(each))),
  );
  const held = counts(movements.filter(({ type }) => type === 'quality_hold'));
  const released = counts(movements.filter(({ type }) => type === 'quality_release'));
  expect(stock.onHold).toBe(sumDecimals([held, negated(released)]));
  expect(stock.reserved).toBe(
    sumDecimals(open.filter((line) => line.sku === sku).map(({ quantity }) => quantity)),
  );
  for (const place of Object.values<string>(stock))
    expect(compareDecimals(place, '0')).toBeGreaterThanOrEqual(0);
  for (const { balance } of movements) expect(compareDecimals(balance, '0')).toBeGreaterThanOrEqual(0);
}

test('stock equals the sum of its movements, and what is reserved the lines of the orders in hand', async () => {
  const operations = fc.array(fc.oneof(movement, order), { minLength: 4, maxLength: 16 });
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(operations, async (chosen) => {
      runs += 1;
      const skus = [`A-${runs}`, `B-${runs}`];
      for (const sku of skus) await stockedProduct(api.eshop, sku, '8');
      const id = (index: number) => `O-${runs}-${index}`;
      // All at once; the steps of one order follow each other.
      await Promise.all(
        chosen.map(async (what, index) => {
          for (const { step } of operationOf(what, skus, id(index))) {
            const status = await step();
            expect([200, 409]).toContain(status);
            if (status === 409) refused += 1;
          }
        }),
      );
      const inHand: { sku: string; quantity: string }[] = [];
      for (const [index, what] of chosen.entries()) {
        if (what.kind !== 'order') continue;
        const { data } = await api.shop('GET', `/v2/orders/${id(index)}`);
        if (['received', 'processing', 'packed', 'waitingForCarrier'].includes(data.status))
          inHand.push(...data.orderProducts);
      }
      for (const sku of skus) await consistent(sku, inHand);
    }),
    { numRuns: 40 },
  );
  // Otherwise the operations never came near the limits.
  expect(refused).toBeGreaterThan(20);
}, 60_000);
