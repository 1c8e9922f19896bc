/** An e-shop developer's view: a logged-in client of a running Waybill. */

import type { EshopCredentials } from '../../../src/app/accounts.ts';
import { ordinaryOrder } from '../harness/ordinary-order.ts';

/** The envelope, as far as tests read it. */
export interface Answer {
  readonly statusCode: number;
  readonly message: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into the answers of all endpoints
  readonly data?: any;
}

export interface ApiClient {
  /** Sent with every request: key and token. */
  readonly headers: Readonly<Record<string, string>>;
  /** @param path below /v21 */
  request(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Creates an order that is valid for the demonstration's products. */
  createOrder(eshopOrderId: string, more?: object): Promise<Answer>;
}

/** Logs in as the e-shop's own user. */
export async function login(url: string, credentials: EshopCredentials): Promise<ApiClient> {
  const { apiKey, username, password } = credentials;
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const send = async (method: string, path: string, token: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${url}/v21${path}`, {
      method,
      headers: token === '' ? headers : { ...headers, authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Answer;
  };
  const { data } = await send('POST', '/users/login', '', { username, password });
  const request = (method: string, path: string, body?: unknown) => send(method, path, data.token, body);
  return {
    headers: { 'x-api-key': apiKey, authorization: data.token },
    request,
    createOrder: (eshopOrderId, more = {}) =>
      request('POST', '/orders', {
        ...ordinaryOrder,
        eshopOrderId,
        shipper: 'PPL',
        shipperService: 'PPL_PRIVATE',
        orderProducts: [{ sku: 'MUG-BLUE', quantity: 1, unitPrice: '249.00', vatRate: 21 }],
        ...more,
      }),
  };
}
