/** Whatever runs at once, stock is the sum of movements and reservations, and what the newest event says. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareDecimals, sumDecimals } from '../../src/domain/decimal.ts';
import { stockMovementTypes } from '../../src/domain/event-types.ts';
import { negated } from '../../src/domain/stock/arithmetic.ts';
import type { StockMovementRecord } from '../../src/domain/stock/movement.ts';
import { stockedProduct } from '../support/api/orders.ts';
import { apiOfFile } from '../support/lifetimes.ts';

let runs = 0;

const api = await apiOfFile();
const parameters = { onStockChange: true };
const asks = { url: 'https://shop.example/', webhookType: 'UPDATE_PRODUCT', active: true, method: 'POST' };
expect((await api.shop('POST', '/v21/webhooks', { ...asks, parameters })).status).toBe(200);

const units = fc.integer({ min: 1, max: 6_000 }).map((thousandths) => String(thousandths / 1000));
const which = fc.integer({ min: 0, max: 1 });
const movement = fc.record({
  kind: fc.constant('movement' as const),
  type: fc.constantFrom(...stockMovementTypes),
  product: which,
  units,
  takes: fc.boolean(),
});
/** An order, and how far it gets. */
const order = fc.record({
  kind: fc.constant('order' as const),
  lines: fc.array(fc.tuple(which, units), { minLength: 1, maxLength: 3 }),
  ends: fc.constantFrom('received', 'productsNotAvailable', 'canceled', 'onTheWay'),
});
/** A receiving or return of some units, counted or not, and how far it gets. */
const announced = fc.record({
  kind: fc.constantFrom('receivings' as const, 'returns' as const),
  lines: fc.array(fc.tuple(which, units), { minLength: 1, maxLength: 2 }),
  counted: fc.option(units, { nil: null }),
  ends: fc.constantFrom('awaiting', 'arrived', 'canceled', 'done'),
});
const ways = {
  receivings: { done: ['arrived', 'received', 'stocked'], id: 'eshopReceivingId', lines: 'products' },
  returns: {
    done: ['arrived', 'processing', 'completed'],
    id: 'eshopReturnId',
    lines: 'returnedOrderProducts',
  },
};
const leaving = ['received', 'processing', 'packed', 'waitingForCarrier', 'onTheWay'];

/** The value of an arbitrary. */
type Chosen<Made> = Made extends fc.Arbitrary<infer Value> ? Value : never;

type Operation = { readonly step: () => Promise<number> }[];

function operationOf(
  what: Chosen<typeof movement> | Chosen<typeof order> | Chosen<typeof announced>,
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
  if (what.kind !== 'order') return announcementOf(what, skus, id);
  const orderProducts = what.lines.map(([product, quantity]) => ({ sku: skus[product], quantity }));
  const statuses = what.ends === 'onTheWay' ? leaving : [...new Set(['received', what.ends])];
  return [
    { step: async () => (await api.shop('POST', '/v21/orders', { eshopOrderId: id, orderProducts })).status },
    ...statuses.map((status) => ({
      step: async () => (await api.warehouse('PUT', `/v21/warehouse/orders/${id}/status`, { status })).status,
    })),
  ];
}

function announcementOf(
  { kind, lines, counted, ends }: Chosen<typeof announced>,
  skus: readonly string[],
  id: string,
): Operation {
  const { done, id: idField, lines: field } = ways[kind];
  // One line per product: the last of several counts.
  const quantities = new Map(lines.map(([product, quantity]) => [skus[product], quantity]));
  const announcement = [...quantities].map(([sku, quantity]) => ({ sku, quantity }));
  const body = { [idField]: id, [field]: announcement, ...(kind === 'receivings' ? { supplier: 'x' } : {}) };
  const statuses = ends === 'done' ? done : ends === 'awaiting' ? [] : [ends];
  const path = `/v21/warehouse/${kind}/${id}`;
  const steps = statuses.map((status) => ({
    step: async () => (await api.warehouse('PUT', `${path}/status`, { status })).status,
  }));
  const [first] = announcement;
  const count = { [field]: [{ sku: first?.sku, received: counted }] };
  if (counted !== null && ends === 'done') {
    steps.splice(1, 0, { step: async () => (await api.warehouse('PUT', `${path}/lines`, count)).status });
  }
  return [{ step: async () => (await api.shop('POST', `/v21/${kind}`, body)).status }, ...steps];
}

const isHold = ({ type }: StockMovementRecord) => type === 'quality_hold' || type === 'quality_release';

interface Line {
  readonly sku: string;
  readonly quantity: string;
}
const sumOf = (lines: readonly Line[], sku: string) =>
  sumDecimals(lines.filter((line) => line.sku === sku).map(({ quantity }) => quantity));

async function consistent(sku: string, reserved: readonly Line[], awaited: readonly Line[]): Promise<void> {
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
  expect(stock.reserved).toBe(sumOf(reserved, sku));
  expect(stock.awaiting).toBe(sumOf(awaited, sku));
  for (const place of Object.values<string>(stock))
    expect(compareDecimals(place, '0')).toBeGreaterThanOrEqual(0);
  const [newest] = (await api.shop('GET', `/v2/events?entityId=${sku}&items=1`)).data;
  expect((await api.shop('GET', `/v2/events/${newest.id}`)).data.record.stock).toEqual(stock);
  for (const { balance } of movements) expect(compareDecimals(balance, '0')).toBeGreaterThanOrEqual(0);
}

test('stock equals the sum of its movements; reserved and awaiting equal the open lines', async () => {
  const operations = fc.array(fc.oneof(movement, order, announced), { minLength: 4, maxLength: 16 });
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(operations, async (chosen) => {
      runs += 1;
      const skus = [`A-${runs}`, `B-${runs}`];
      for (const sku of skus) await stockedProduct(api.eshop, sku, '8');
      const id = (index: number) => `O-${runs}-${index}`;
      // All at once, except that the steps of one order follow each other.
      await Promise.all(
        chosen.map(async (what, index) => {
          for (const { step } of operationOf(what, skus, id(index))) {
            const status = await step();
            expect([200, 409]).toContain(status);
            if (status === 409) refused += 1;
          }
        }),
      );
      const [present, awaited]: [Line[], Line[]] = [[], []];
      for (const [index, what] of chosen.entries()) {
        if (what.kind === 'receivings') {
          const { data } = await api.shop('GET', `/v2/receivings/${id(index)}`);
          if (data.status === 'awaiting' || data.status === 'arrived') awaited.push(...data.products);
        }
        if (what.kind !== 'order') continue;
        const { data } = await api.shop('GET', `/v2/orders/${id(index)}`);
        if (['received', 'processing', 'packed', 'waitingForCarrier'].includes(data.status))
          present.push(...data.orderProducts);
      }
      for (const sku of skus) await consistent(sku, present, awaited);
    }),
    { numRuns: 15 },
  );
  // Otherwise the operations never reached the limits.
  expect(refused).toBeGreaterThan(5);
});
