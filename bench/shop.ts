/**
 * An e-shop as the bench plays it, through the HTTP API alone.
 * @module
 */
import { Agent } from 'undici';
import * as v from 'valibot';

/** What `waybill eshop create --json` prints. */
export const credentialsSchema = v.object({
  eshopId: v.number(),
  apiKey: v.string(),
  username: v.string(),
  password: v.string(),
  warehouse: v.object({ username: v.string(), password: v.string() }),
});
/** Credentials of an e-shop. */
export type Credentials = v.InferOutput<typeof credentialsSchema>;

const loginSchema = v.object({ data: v.object({ token: v.string() }) });

/** An e-shop that is logged in, with one webhook for created orders. */
export interface Shop {
  /**
   * Creates the next order.
   * @throws Error when the answer is not 200
   */
  createOrder(): Promise<void>;
  close(): Promise<void>;
}

/** Logs in, creates a product and a POST webhook. */
export async function openShop(apiUrl: string, credentials: Credentials, hookUrl: string): Promise<Shop> {
  const agent = new Agent();
  const headers: Record<string, string> = {
    'x-api-key': credentials.apiKey,
    'content-type': 'application/json',
  };
  let orders = 0;

  async function post(path: string, body: unknown): Promise<unknown> {
    const answer = await agent.request({
      origin: apiUrl,
      path: `/v21${path}`,
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`POST ${path}: HTTP ${answer.statusCode} ${text}`);
    return JSON.parse(text);
  }

  const { username, password } = credentials;
  const login = v.parse(loginSchema, await post('/users/login', { username, password }));
  headers.authorization = `Bearer ${login.data.token}`;
  await post('/products', { sku: 'BOOK-1', name: 'A book' });
  await post('/webhooks', { url: hookUrl, webhookType: 'CREATE_ORDER', active: true, method: 'POST' });

  return {
    async createOrder() {
      orders += 1;
      await post('/orders', order(`bench-${orders}`));
    },
    close: () => agent.close(),
  };
}

/** An order of ordinary size: three lines, two addresses. */
function order(eshopOrderId: string) {
  const line = { sku: 'BOOK-1', quantity: 2, unitPrice: '249.90', vatRate: '12' };
  return {
    eshopOrderId,
    recipientName: 'Jana Nováková',
    recipientEmail: 'jana@example.com',
    recipientPhone: '+420 601 000 000',
    recipientStreet: 'Dlouhá 12',
    recipientCity: 'Praha',
    recipientPostCode: '110 00',
    recipientCountry: 'CZ',
    paid: true,
    paymentType: 1,
    currency: 'CZK',
    note: 'Leave it with the neighbours.',
    orderProducts: [line, line, line],
  };
}
