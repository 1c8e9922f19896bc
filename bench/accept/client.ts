/** An e-shop and its warehouse as the bench plays them, through HTTP alone. */
import { Agent } from 'undici';
import * as v from 'valibot';
import type { Credentials } from '../shop.ts';

const loginSchema = v.object({ data: v.object({ token: v.string() }) });

/** How many products there are: lines meet each other as often as in an ordinary warehouse. */
const SKUS = 200;
/** The product of a line. */
export const skuOf = (index: number) => `THING-${index % SKUS}`;

/** What the bench asks for. */
export interface Client {
  /** POSTs as the e-shop. @throws Error when the answer is not 200 */
  shop(path: string, body: object): Promise<string>;
  /** GETs as the e-shop. @throws Error when the answer is not 200 */
  read(path: string): Promise<string>;
  /** The body of an import → how many lines got which status. */
  import(body: string): Promise<ReadonlyMap<number, number>>;
  close(): Promise<void>;
}

/** Logs both in, and creates the products, each with stock. */
export async function createClient(apiUrl: string, credentials: Credentials): Promise<Client> {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  async function ask(
    method: 'GET' | 'POST',
    path: string,
    authorization: string,
    sent: { readonly type: string; readonly body: string } | null,
  ): Promise<string> {
    const headers = { 'x-api-key': credentials.apiKey, authorization };
    const answer = await agent.request({
      origin: apiUrl,
      path: `/v21${path}`,
      method,
      headers: sent === null ? headers : { ...headers, 'content-type': sent.type },
      body: sent?.body ?? null,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: HTTP ${answer.statusCode} ${text}`);
    return text;
  }
  const post = (path: string, body: string, type: string, authorization: string) =>
    ask('POST', path, authorization, { type, body });
  const tokenOf = async ({
    username,
    password,
  }: {
    readonly username: string;
    readonly password: string;
  }) => {
    const answer = await post('/users/login', JSON.stringify({ username, password }), 'application/json', '');
    return v.parse(loginSchema, JSON.parse(answer)).data.token;
  };
  const [shopToken, warehouseToken] = [await tokenOf(credentials), await tokenOf(credentials.warehouse)];
  const client: Client = {
    shop: (path, body) => post(path, JSON.stringify(body), 'application/json', shopToken),
    read: (path) => ask('GET', path, shopToken, null),
    async import(body) {
      const answer = await post('/warehouse/events/import', body, 'application/x-ndjson', warehouseToken);
      const statuses = new Map<number, number>();
      for (const [, code] of answer.matchAll(/"statusCode":(\d+)/g))
        statuses.set(Number(code), (statuses.get(Number(code)) ?? 0) + 1);
      return statuses;
    },
    close: () => agent.close(),
  };
  for (let index = 0; index < SKUS; index += 1)
    await client.shop('/products', { sku: skuOf(index), name: 'Thing' });
  const stocked = Array.from({ length: SKUS }, (_, index) =>
    JSON.stringify({
      operation: 'stockMovement',
      body: { type: 'stock_correction', sku: skuOf(index), count: 1_000_000 },
    }),
  );
  await client.import(stocked.join('\n'));
  return client;
}
