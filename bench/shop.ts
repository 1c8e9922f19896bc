/** An e-shop with its warehouse, as played by the bench, using only the HTTP API. */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { Agent } from 'undici';
import * as v from 'valibot';
import { createEshopWithUsers } from '../src/app/accounts.ts';
import type { Pool } from '../src/db/connection/pool.ts';
import { ordinaryOrder } from '../test/support/harness/ordinary-order.ts';

const loginSchema = v.object({ data: v.object({ token: v.string() }) });
const webhookSchema = v.object({ data: v.object({ id: v.number() }) });
const lineSchema = v.object({ statusCode: v.number() });

/** The event type of {@link Shop.importMovements}. */
export const MOVEMENT = 'CREATE_STOCK_MOVEMENT_STOCK_CORRECTION';

/** A logged-in e-shop that has a product. Its calls throw an Error if the response is not a 200. */
export interface Shop {
  readonly eshopId: number;
  /** Creates the next order, a pre-order if it has a release time. @returns its `eshopOrderId` */
  createOrder(releaseAt?: Date): Promise<string>;
  /**
   * Creates an order with this many lines, of about 100 bytes each.
   * @returns changes its note; resolves to the milliseconds to wait before the next call, by its budget
   */
  createLargeOrder(lines: number): Promise<() => Promise<number>>;
  /** Reads the newest orders. */
  readOrders(): Promise<void>;
  /** Sends an invalid order. @returns the status of the response, of any kind */
  sendNonsense(body: Uint8Array): Promise<number>;
  /** @returns its id */
  createWebhook(webhookType: string, url: string): Promise<number>;
  deactivateWebhook(id: number): Promise<void>;
  deleteWebhook(id: number): Promise<void>;
  /**
   * Imports movements of its stock in one request.
   * @param more called before each line: whether to send it; default: always
   * @returns the number of lines accepted
   */
  importMovements(lines: number, more?: () => boolean): Promise<number>;
  close(): Promise<void>;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Creates an e-shop, logs it in, and creates a product. */
export async function openShop(sql: Pool, apiUrl: string): Promise<Shop> {
  const credentials = await createEshopWithUsers(sql, { name: 'Bench', email: 'bench@shop.example' });
  const agent = new Agent({ bodyTimeout: 0, headersTimeout: 0 });
  const common = { 'x-api-key': credentials.apiKey, 'content-type': 'application/json' };
  let orders = 0;

  async function send(method: Method, path: string, token: string, body?: unknown) {
    return await agent.request({
      origin: apiUrl,
      path: `/v21${path}`,
      method,
      headers: token === '' ? common : { ...common, authorization: token },
      body: body === undefined ? null : JSON.stringify(body),
    });
  }
  async function ask(method: Method, path: string, token: string, body?: unknown) {
    const answer = await send(method, path, token, body);
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: HTTP ${answer.statusCode} ${text}`);
    const parsed: unknown = JSON.parse(text);
    return parsed;
  }
  async function login(user: { readonly username: string; readonly password: string }): Promise<string> {
    const { username, password } = user;
    return `Bearer ${v.parse(loginSchema, await ask('POST', '/users/login', '', { username, password })).data.token}`;
  }
  const shop = await login(credentials);
  const warehouse = await login(credentials.warehouse);
  await ask('POST', '/products', shop, { sku: 'BOOK-1', name: 'A book' });

  return {
    eshopId: credentials.eshopId,
    async createOrder(releaseAt) {
      orders += 1;
      const id = `bench-${orders}`;
      const order = benchOrder(id, ['BOOK-1', 'BOOK-1', 'BOOK-1']);
      const waiting =
        releaseAt === undefined ? {} : { status: 'preOrder', releaseAt: releaseAt.toISOString() };
      await ask('POST', '/orders', shop, { ...order, ...waiting });
      return id;
    },
    async createLargeOrder(lines) {
      const id = 'bench-large';
      await ask('POST', '/orders', shop, benchOrder(id, Array<string>(lines).fill('BOOK-1')));
      let changes = 0;
      return async () => {
        changes += 1;
        const { statusCode, headers, body } = await send('PATCH', `/orders/${id}`, shop, {
          note: `Changed ${changes} times.`,
        });
        const text = await body.text();
        if (statusCode === 200) return 0;
        if (statusCode !== 429) throw new Error(`PATCH /orders/${id}: HTTP ${statusCode} ${text}`);
        return Number(headers['retry-after']) * 1000;
      };
    },
    async readOrders() {
      await ask('GET', '/orders?items=10', shop);
    },
    async sendNonsense(body) {
      const headers = { ...common, authorization: shop };
      const request = { origin: apiUrl, path: '/v21/orders', method: 'POST', headers, body } as const;
      const answer = await agent.request(request);
      await answer.body.dump();
      return answer.statusCode;
    },
    async createWebhook(webhookType, url) {
      const body = { url, webhookType, active: true, method: 'POST' };
      return v.parse(webhookSchema, await ask('POST', '/webhooks', shop, body)).data.id;
    },
    async deactivateWebhook(id) {
      await ask('PUT', `/webhooks/${id}/deactivate`, shop);
    },
    async deleteWebhook(id) {
      await ask('DELETE', `/webhooks/${id}`, shop);
    },
    async importMovements(lines, more = () => true) {
      const answer = await agent.request({
        origin: apiUrl,
        path: '/v21/warehouse/events/import',
        method: 'POST',
        headers: { ...common, authorization: warehouse, 'content-type': 'application/x-ndjson' },
        body: Readable.from(movements(lines, more)),
      });
      if (answer.statusCode !== 200) throw new Error(await answer.body.text());
      let taken = 0;
      for await (const line of createInterface({ input: answer.body })) {
        const { statusCode } = v.parse(lineSchema, JSON.parse(line));
        if (statusCode !== 200) throw new Error(`A line was refused: ${line}`);
        taken += 1;
      }
      return taken;
    },
    close: () => agent.destroy(),
  };
}

function* movements(lines: number, more: () => boolean): Generator<string> {
  const body = { type: 'stock_correction', sku: 'BOOK-1', count: '1.5', note: 'counted' };
  const line = `${JSON.stringify({ operation: 'stockMovement', body })}\n`;
  for (let index = 0; index < lines && more(); index += 1) yield line;
}

/** An order of ordinary size: an address, and a line for each of the products. */
function benchOrder(eshopOrderId: string, skus: readonly string[]) {
  const line = { quantity: 2, unitPrice: '249.90', vatRate: '12' };
  return {
    eshopOrderId,
    ...ordinaryOrder,
    recipientEmail: 'jana@example.com',
    recipientPhone: '+420 601 000 000',
    note: 'Leave it with the neighbors.',
    orderProducts: skus.map((sku) => ({ sku, ...line })),
  };
}
