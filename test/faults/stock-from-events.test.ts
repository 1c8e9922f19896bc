/** Stock kept from events alone equals `GET /products` after random writes, imports, a kill and refused attempts. */
import { expect, onTestFinished, test } from 'vitest';
import { randomFrom } from '../../demo/random.ts';
import { login } from '../support/api/client.ts';
import { receiverOfTest } from '../support/lifetimes.ts';
import { createInstallation } from '../support/programs/installation.ts';
import { startProgram } from '../support/programs/program.ts';
import { nightly } from '../support/runner/nightly.ts';
import { until } from '../support/until.ts';

/** Enough for each kind of write to meet the kill, and for retries before and after it. */
const WRITES = nightly ? 500 : 80;
const WRITERS = 6;
const SKUS = ['TEA', 'CUP', 'POT', 'TIN', 'JAR', 'BOX'] as const;
/** The lines of one of the imports, which the writers send now and then. */
const IMPORTED = 30;

/** What the e-shop knows: the newest event of each product that arrived. */
type Shelf = Map<string, { readonly sequence: number; readonly available: number }>;

test('stock kept from events alone equals the stored stock', async () => {
  const installation = await createInstallation();
  onTestFinished(() => installation.remove());
  const { credentials, env, sql } = installation;
  const shelf: Shelf = new Map();
  let stockAlone = 0;
  const receiver = await receiverOfTest(({ count, text, headers }) => {
    if (count % 9 === 0) return { status: 503 };
    const { sku, stock } = JSON.parse(text);
    const sequence = Number(headers['x-service-sequence']);
    if (headers['x-service-event'] === 'UPDATE_PRODUCT') stockAlone += 1;
    if (sequence > (shelf.get(sku)?.sequence ?? 0)) shelf.set(sku, { sequence, available: stock.available });
    return { status: 200 };
  });

  let program = await startProgram(env);
  onTestFinished(async () => void (await program.stop()));
  const clients = async () => ({
    shop: await login(program.url, credentials),
    warehouse: await login(program.url, { ...credentials, ...credentials.warehouse }),
  });
  let api = await clients();
  const subscribed = await api.shop.request('POST', '/webhooks', {
    url: receiver.url,
    webhookType: 'UPDATE_PRODUCT',
    additionalTypes: ['CREATE_PRODUCT'],
    method: 'POST',
    active: true,
    payloadVersion: 'v21',
    ordering: 'latest',
    parameters: { onStockChange: true },
  });
  expect(subscribed.statusCode, subscribed.message).toBe(200);
  for (const sku of SKUS) await api.shop.request('POST', '/products', { sku, name: sku });

  let [made, answered] = [0, 0];
  const random = randomFrom('stock from events');
  /** Resolves once the program is there, also while it restarts. */
  let there: Promise<unknown> = Promise.resolve();

  const movement = (...types: string[]) => ({
    type: random.pick(types),
    sku: random.pick(SKUS),
    count: random.integer(1, 9),
  });
  const to = (kind: string, id: number, status: string) =>
    api.warehouse.request('PUT', `/warehouse/${kind}/${id}/status`, { status });
  const writes: readonly ((number: number) => Promise<unknown>)[] = [
    () =>
      api.warehouse.request(
        'POST',
        '/warehouse/stock-movements',
        movement('stock_correction', 'quality_hold', 'quality_release'),
      ),
    async (number) => {
      const orderProducts = random.some(SKUS, 2).map((sku) => ({ sku, quantity: random.integer(1, 2) }));
      await api.shop.request('POST', '/orders', { eshopOrderId: String(number), orderProducts });
      await to('orders', number, 'received');
    },
    (number) => api.shop.request('POST', `/orders/${random.integer(1, number)}/cancel`),
    async (number) => {
      const id = random.integer(1, number);
      for (const status of ['processing', 'packed', 'waitingForCarrier', 'onTheWay'])
        await to('orders', id, status);
    },
    async (number) => {
      const lines = [{ sku: random.pick(SKUS), quantity: 7 }];
      const receiving = { eshopReceivingId: String(number), supplier: 'x', products: lines };
      await api.shop.request('POST', '/receivings', receiving);
      for (const status of ['arrived', 'received', 'stocked']) await to('receivings', number, status);
    },
    (number) => api.shop.request('PATCH', `/products/${random.pick(SKUS)}`, { note: String(number) }),
    async () => {
      const lines = Array.from({ length: IMPORTED }, () => ({
        operation: 'stockMovement',
        body: movement('stock_correction', 'quality_hold'),
      }));
      const answer = await fetch(`${program.url}/v21/warehouse/events/import`, {
        method: 'POST',
        headers: { ...api.warehouse.headers, 'content-type': 'application/x-ndjson' },
        body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      });
      await answer.text();
    },
  ];

  async function writer(): Promise<void> {
    while (made < WRITES) {
      made += 1;
      await there;
      // Whether a write that the kill met was made is not known: its event says it.
      await random
        .pick(writes)(made)
        .then(
          () => {
            answered += 1;
          },
          () => {},
        );
    }
  }

  const writing = Promise.all(Array.from({ length: WRITERS }, writer));
  await until('half of the writes', async () => made > WRITES / 2);
  let restarted = () => {};
  there = new Promise<void>((resolve) => {
    restarted = resolve;
  });
  await program.kill();
  program = await startProgram(env);
  api = await clients();
  restarted();
  await writing;
  expect(answered).toBeGreaterThan(WRITES - 5 * WRITERS);

  const { data } = await api.shop.request('GET', '/products?items=100');
  const stored = new Map<string, number>(
    data
      .filter(({ sku }: { sku: string }) => sku !== 'MUG-BLUE')
      .map(({ sku, stock }: { sku: string; stock: { available: number } }) => [sku, stock.available]),
  );
  const open = async () =>
    (await sql`select from deliveries where state in ('pending', 'retrying') limit 1`).length > 0;
  await until('every event to be delivered', async () => !(await open()));
  expect(new Map([...shelf].map(([sku, { available }]) => [sku, available]))).toEqual(stored);
  // It was not idle: most of what arrived was about stock alone, and each product has some.
  expect(stockAlone).toBeGreaterThan(WRITES / 10);
  expect([...stored.values()].some((available) => available > 0)).toBe(true);
}, 600_000);
