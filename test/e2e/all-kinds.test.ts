/**
 * Every event type, fired by a real write, to a POST webhook of each version and a GET webhook: the payload equals
 * the response of the read endpoint (docs/interface.md, D1 and D2).
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { entryOf } from '../../src/domain/catalogue.ts';
import { type EventType, eventTypeNames } from '../../src/domain/event-types.ts';
import { type ApiClient, login } from '../support/api/client.ts';
import { installationOfFile, programOfFile, receiverOfFile } from '../support/lifetimes.ts';
import type { ReceivedRequest } from '../support/servers/receiver.ts';

let made = 0;

const hooks = [
  { name: 'post-v2', method: 'POST', payloadVersion: 'v2' },
  { name: 'post-v21', method: 'POST', payloadVersion: 'v21' },
  { name: 'get', method: 'GET', payloadVersion: 'v2' },
] as const;
const hookPath = (type: EventType, name: string) => `/${type}/${name}/`;

const installation = await installationOfFile();
const program = await programOfFile(installation.env);
const { credentials } = installation;
const shop = await login(program.url, credentials);
const warehouse = await login(program.url, { ...credentials, ...credentials.warehouse });
const receiver = await receiverOfFile();
for (const webhookType of eventTypeNames) {
  for (const { name, method, payloadVersion } of hooks) {
    const url = `${receiver.url}${hookPath(webhookType, name)}`;
    await did(shop, 'POST', '/webhooks', { url, webhookType, active: true, method, payloadVersion });
  }
}

/** @throws Error unless the response is 200 */
async function did(client: ApiClient, method: string, path: string, body?: object) {
  const answer = await client.request(method, path, body);
  if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.message}`);
  return answer.data;
}
/** A new identifier that must be escaped in a URL. */
function newId(): string {
  made += 1;
  return `č. ${made}/ž`;
}
const at = encodeURIComponent;

async function newProduct(units = 0): Promise<string> {
  const sku = newId();
  await did(shop, 'POST', '/products', { sku, name: 'Tea', price: '349.9', currency: 'CZK', weight: 120 });
  if (units > 0) await newMovement(sku, 'stock_correction', units);
  return sku;
}
async function newMovement(sku: string, type: string, count: number | string): Promise<string> {
  const body = { type, sku, count, lot: 'L-1', note: 'counted' };
  return String((await did(warehouse, 'POST', '/warehouse/stock-movements', body)).id);
}
async function newOrder(sku: string): Promise<string> {
  const eshopOrderId = newId();
  const line = { sku, quantity: '1.5', unitPrice: 249.9, vatRate: '21.0' };
  await did(shop, 'POST', '/orders', { eshopOrderId, currency: 'EUR', orderProducts: [line] });
  return eshopOrderId;
}
async function newReceiving(sku: string): Promise<string> {
  const eshopReceivingId = newId();
  const products = [{ sku, quantity: '2.25' }];
  await did(shop, 'POST', '/receivings', { eshopReceivingId, supplier: 'Tea Ltd', products });
  return eshopReceivingId;
}
async function newReturn(sku: string): Promise<string> {
  const eshopReturnId = newId();
  const returnedOrderProducts = [{ sku, quantity: '1.0' }];
  await did(shop, 'POST', '/returns', { eshopReturnId, returnedOrderProducts });
  return eshopReturnId;
}
/** Moves a record through these statuses. */
async function move(kind: string, id: string, ...statuses: string[]): Promise<string> {
  for (const status of statuses)
    await did(warehouse, 'PUT', `/warehouse/${kind}/${at(id)}/status`, { status });
  return id;
}
/** The movement that another write caused. */
async function movementOf(type: string, sku: string): Promise<string> {
  const [movement] = await did(shop, 'GET', `/stock-movements?type=${type}&sku=${at(sku)}`);
  return String(movement.id);
}

/** For each event type the flow that ends with its write; answers the identifier of the record. */
const flows: Record<EventType, () => Promise<string>> = {
  CREATE_ORDER: async () => newOrder(await newProduct()),
  UPDATE_ORDER: async () => {
    const id = await newOrder(await newProduct());
    await did(shop, 'PATCH', `/orders/${at(id)}`, { note: 'ring twice', trackingNumbers: ['Z 1'] });
    return id;
  },
  UPDATE_ORDER_STATUS: async () => move('orders', await newOrder(await newProduct(5)), 'received'),
  CREATE_PRODUCT: () => newProduct(),
  UPDATE_PRODUCT: async () => {
    const sku = await newProduct();
    await did(shop, 'PATCH', `/products/${at(sku)}`, { price: 0.1234 });
    return sku;
  },
  CREATE_RECEIVING: async () => newReceiving(await newProduct()),
  UPDATE_RECEIVING: async () => {
    const id = await newReceiving(await newProduct());
    await did(shop, 'PATCH', `/receivings/${at(id)}`, { driverName: 'Jan', urgent: true });
    return id;
  },
  UPDATE_RECEIVING_STATUS: async () => move('receivings', await newReceiving(await newProduct()), 'arrived'),
  CREATE_RETURN: async () => newReturn(await newProduct()),
  UPDATE_RETURN: async () => {
    const id = await newReturn(await newProduct());
    await did(shop, 'PATCH', `/returns/${at(id)}`, { eshopNote: 'the box is torn' });
    return id;
  },
  UPDATE_RETURN_STATUS: async () => move('returns', await newReturn(await newProduct()), 'arrived'),
  CREATE_STOCK_MOVEMENT_STOCK_CORRECTION: async () =>
    newMovement(await newProduct(5), 'stock_correction', '-0.5'),
  CREATE_STOCK_MOVEMENT_COMPLETITION: async () => newMovement(await newProduct(), 'completition', 3),
  CREATE_STOCK_MOVEMENT_ORDER: async () => {
    const sku = await newProduct(5);
    const way = ['received', 'processing', 'packed', 'waitingForCarrier', 'onTheWay'];
    await move('orders', await newOrder(sku), ...way);
    return movementOf('order', sku);
  },
  CREATE_STOCK_MOVEMENT_RETURN: async () => {
    const sku = await newProduct();
    await move('returns', await newReturn(sku), 'arrived', 'processing', 'completed');
    return movementOf('return', sku);
  },
  CREATE_STOCK_MOVEMENT_RECEIVING: async () => {
    const sku = await newProduct();
    await move('receivings', await newReceiving(sku), 'arrived', 'received', 'stocked');
    return movementOf('receiving', sku);
  },
  CREATE_STOCK_MOVEMENT_QUALITY_HOLD: async () => newMovement(await newProduct(5), 'quality_hold', 2),
  CREATE_STOCK_MOVEMENT_QUALITY_RELEASE: async () => {
    const sku = await newProduct(5);
    await newMovement(sku, 'quality_hold', 2);
    return newMovement(sku, 'quality_release', 1);
  },
};

/** The response of a version's read endpoint: the text of `data`, and its value. */
async function readAs(version: string, type: EventType, id: string) {
  const url = `${program.url}/${version}${entryOf(type).path}/${at(id)}`;
  const text = await (await fetch(url, { headers: shop.headers })).text();
  const data: unknown = JSON.parse(text).data;
  return { text: JSON.stringify(data), data };
}

describe.each(eventTypeNames)('%s', (type) => {
  let id: string;
  beforeAll(async () => {
    id = await flows[type]();
  });

  test.each(hooks)(
    'the webhook $name gets the record of the read endpoint, or its identifier by GET',
    async ({ name, method, payloadVersion }) => {
      const path = hookPath(type, name);
      const mine = (request: ReceivedRequest) =>
        method === 'GET'
          ? request.path === `${path}${at(id)}`
          : request.path === path && String(JSON.parse(request.text)[entryOf(type).idField]) === id;
      await receiver.waitFor(() => receiver.requests.some(mine));
      const arrived = receiver.requests.filter(mine);
      expect(arrived).toHaveLength(1);
      const [request] = arrived;
      expect(request?.headers['x-service-event']).toBe(type);
      expect(request?.method).toBe(method);
      const shown = await fetch(
        `${program.url}/v21/deliveries/${request?.headers['x-service-delivery']}/payload`,
        { headers: shop.headers },
      );
      const contentType = request?.headers['content-type'] ?? null;
      const sent = { method, url: `${receiver.url}${request?.path}`, contentType };
      expect(await shown.text()).toBe(
        `{"statusCode":200,"message":"Payload found.","data":${request?.text || null},"request":${JSON.stringify(sent)}}`,
      );
      if (method === 'GET') {
        expect(request?.text).toBe('');
        return;
      }
      const { text, data } = await readAs(payloadVersion, type, id);
      expect(JSON.parse(request?.text ?? '')).toStrictEqual(data);
      expect(request?.text).toBe(text);
    },
  );
});

describe('snapshots', () => {
  test('two quick updates give two payloads, in both versions', async () => {
    const sku = await newProduct();
    await did(shop, 'PATCH', `/products/${at(sku)}`, { price: 1 });
    await did(shop, 'PATCH', `/products/${at(sku)}`, { price: 2 });
    for (const [name, prices] of [
      ['post-v2', ['1.00', '2.00']],
      ['post-v21', [1, 2]],
    ] as const) {
      const path = hookPath('UPDATE_PRODUCT', name);
      const mine = () =>
        receiver.requests
          .filter((request) => request.path === path)
          .map(({ text }) => JSON.parse(text))
          .filter((record) => record.sku === sku);
      await receiver.waitFor(() => mine().length === 2);
      expect(
        mine()
          .map(({ price }) => price)
          .sort(),
      ).toEqual(prices);
    }
  });

  test('packing lists are sent as they were, and only if the webhook asks for them', async () => {
    const packed = `${receiver.url}/packed/`;
    for (const webhookType of ['UPDATE_ORDER', 'UPDATE_ORDER_STATUS']) {
      const parameters = { withPackingLists: true };
      const webhook = {
        url: packed,
        webhookType,
        active: true,
        method: 'POST',
        payloadVersion: 'v21',
        parameters,
      };
      await did(shop, 'POST', '/webhooks', webhook);
    }
    const sku = await newProduct(5);
    const id = await newOrder(sku);
    await move('orders', id, 'received', 'processing');
    const packages = [{ packageNumber: 1, packageType: 'box', quantity: 1.5, serialNumbers: ['S 1'] }];
    const lists = { orderProducts: [{ sku, packingLists: packages }] };
    await did(warehouse, 'PUT', `/warehouse/orders/${at(id)}/packing-lists`, lists);
    const records = (path: string) =>
      receiver.requests
        .filter((request) => request.path === path)
        .map(({ text }) => JSON.parse(text))
        .filter(({ eshopOrderId }) => eshopOrderId === id);
    await receiver.waitFor(() => records('/packed/').length === 3);
    const counts = records('/packed/').map(({ status, orderProducts: [line] }) => [
      status,
      line.packingLists.length,
    ]);
    expect(counts.sort()).toEqual([
      ['processing', 0],
      ['processing', 1],
      ['received', 0],
    ]);
    const detail = await did(shop, 'GET', `/orders/${at(id)}?withPackingLists=true`);
    expect(records('/packed/')).toContainEqual(detail);
    for (const record of records(hookPath('UPDATE_ORDER_STATUS', 'post-v21'))) {
      expect(record.orderProducts[0]).not.toHaveProperty('packingLists');
    }
  });
});
