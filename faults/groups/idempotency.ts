/**
 * Requests with an `Idempotency-Key`, repeated until answered, while the API or its database dies again and again:
 * between the work and its stored response, between the answer and its client, and before any of it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import type { Fault, Scene } from '../fault.ts';
import type { Once } from '../shop.ts';
import { endConnections } from './postgres.ts';

/** Each client sends one request after the other, and repeats it until it is done. */
const CLIENTS = 4;
/** The time from the first request to the breakage, and from there to its end, in milliseconds. */
const UNTIL_BREAKAGE_MS = [50, 500] as const;
const LASTS_MS = [0, 1_000] as const;
/** How much later statements arrive at Postgres, in milliseconds, so that the moments of a request last longer. */
const DELAYS_MS = [0, 5, 20];
/** Units of the product, enough for all movements. */
const UNITS = 1_000_000;
const SKU = 'ONCE';

interface Sent {
  readonly path: string;
  readonly body: object;
  readonly key: string;
  readonly done: Once | null;
}

const idSchema = v.object({ id: v.number() });
const idOf = (done: Once | null) => (done === null ? null : v.parse(idSchema, done.data).id);

/** A movement of one unit, or a webhook that gets nothing: neither has an identifier of its own. */
function requestOf(key: string, webhook: boolean): Pick<Sent, 'path' | 'body'> {
  if (!webhook)
    return {
      path: '/warehouse/stock-movements',
      body: { type: 'stock_correction', sku: SKU, count: -1, note: key },
    };
  const off = {
    url: 'https://shop.example/hooks',
    webhookType: 'CREATE_PRODUCT',
    method: 'POST',
    active: false,
  };
  return { path: '/webhooks', body: { ...off, description: key } };
}

async function breakAgainAndAgain(scene: Scene, { inject, heal }: Breakage): Promise<void> {
  const { stack, shop, logbook, random, kills } = scene;
  const sent: Sent[] = [];
  await shop.once('shop', '/products', { sku: SKU, name: 'Once' }, 'product');
  const stocked = { type: 'stock_correction', sku: SKU, count: UNITS };
  await shop.once('warehouse', '/warehouse/stock-movements', stocked, 'stock');
  for (let round = 0; round < kills; round += 1) {
    stack.links.apiToPostgres.delay(random.pick(DELAYS_MS));
    let over = false;
    const client = async (_: unknown, index: number) => {
      for (let count = 0; !over; count += 1) {
        const key = `${round}-${index}-${count}`;
        // A webhook now and then: the contract has room for a hundred.
        const request = requestOf(key, index === 0 && count === 0);
        const done = await shop.once('warehouse', request.path, request.body, key);
        sent.push({ ...request, key, done });
      }
    };
    const clients = Promise.all(Array.from({ length: CLIENTS }, client));
    // Awaited below.
    clients.catch(() => {});
    await sleep(random.integer(...UNTIL_BREAKAGE_MS));
    const from = Date.now();
    await inject(scene);
    await sleep(random.integer(...LASTS_MS));
    await heal(scene);
    logbook.outages.push({ from, to: Date.now() });
    over = true;
    await clients;
  }
  stack.links.apiToPostgres.delay(0);
  await judge(scene, sent);
}

/** Checks that everything was done once, and that each repetition gets the same answer. */
async function judge({ stack: { sql }, shop, logbook }: Scene, sent: readonly Sent[]): Promise<void> {
  const { eshopId } = shop;
  const rows = await sql<{ id: number; key: string }[]>`
    select id::int, note as key from stock_movements where eshop_id = ${eshopId} and sku = ${SKU} and note is not null
    union all select id, description from webhooks where eshop_id = ${eshopId} and description is not null`;
  const made = new Map<string, number[]>();
  for (const { id, key } of rows) made.set(key, [...(made.get(key) ?? []), id]);
  for (const { key, path, body, done } of sent) {
    const ids = made.get(key) ?? [];
    if (ids.length !== 1) logbook.complaints.push(`${path} under ${key} was done ${ids.length} times.`);
    const again = await shop.once('warehouse', path, body, key);
    if (again?.replayed !== true) logbook.complaints.push(`${path} under ${key} was done again after all.`);
    for (const id of [idOf(done), idOf(again)])
      if (id !== ids[0])
        logbook.complaints.push(`${path} under ${key} made ${ids[0]}, and was answered with ${id}.`);
  }
  const movements = sent.filter(({ path }) => path !== '/webhooks').length;
  const [stock] = await sql<{ available: string }[]>`
    select available from products where eshop_id = ${eshopId} and sku = ${SKU}`;
  if (Number(stock?.available) !== UNITS - movements)
    logbook.complaints.push(`${movements} movements of one unit have left ${stock?.available} of ${UNITS}.`);
  if (made.size !== sent.length)
    logbook.complaints.push(`${sent.length} requests have made ${made.size} records.`);
}

interface Breakage {
  inject(scene: Scene): Promise<void>;
  heal(scene: Scene): Promise<void>;
}

function repeated(name: string, breakage: Breakage, more: Pick<Fault, 'pooler'> = {}): Fault {
  return {
    group: 'idempotency',
    name: `${name} while requests are repeated`,
    policies: ['few'],
    injectionPoints: ['orders'],
    ...more,
    // Once the usual orders have ended.
    settle: (scene) => breakAgainAndAgain(scene, breakage),
    async finish({ stack }) {
      stack.links.apiToPostgres.pass();
      stack.links.apiToPostgres.cutInAnswer(Number.POSITIVE_INFINITY);
      stack.links.apiToPostgres.delay(0);
    },
  };
}

const apiKilled: Breakage = {
  inject: ({ stack }) => stack.api.kill(),
  heal: ({ stack }) => stack.api.start(),
};

export const idempotencyFaults: readonly Fault[] = [
  repeated('API killed', apiKilled),
  repeated('API killed behind a pooler', apiKilled, { pooler: 'transaction' }),
  repeated('API frozen', {
    inject: async ({ stack }) => stack.api.freeze(),
    heal: async ({ stack }) => stack.api.thaw(),
  }),
  repeated('Postgres killed', {
    inject: ({ stack }) => stack.postgres.kill(),
    heal: ({ stack }) => stack.postgres.start(),
  }),
  repeated('connections ended', {
    inject: ({ stack }) => endConnections(stack.sql),
    heal: async () => {},
  }),
  repeated('answers of Postgres cut', {
    inject: async ({ stack, random }) => stack.links.apiToPostgres.cutInAnswer(random.integer(1, 2_000)),
    heal: async () => {},
  }),
];
