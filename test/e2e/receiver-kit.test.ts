import { createServer } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { memoryStore, receiver, reconcile, type Store, waybill } from '../../receiver/src/index.ts';
import { nodeListener } from '../../receiver/src/node.ts';
import { login } from '../support/api/client.ts';
import { installationOfFile, programOfFile } from '../support/lifetimes.ts';
import { listenLocally } from '../support/servers/ports.ts';
import { until } from '../support/until.ts';

const PRODUCTS = 100;
const secrets = new Map<string, string>();
/** The e-shop's data: how many times it handled each delivery. */
const known = new Map<string, number>();

/** The record of handled deliveries is stored beside the e-shop's data: both lose the same part. */
let disk = memoryStore();
const store: Store = {
  claim: (...args) => disk.claim(...args),
  done: (id) => disk.done(id),
  release: (...args) => disk.release(...args),
  handledOf: (ids) => disk.handledOf(ids),
};

/** Loses one in a hundred at random, but at least one. */
async function losePart(): Promise<readonly string[]> {
  const all = [...known.keys()];
  const lost = all.filter((_, index) => index === 7 || Math.random() < 0.01);
  for (const id of lost) known.delete(id);
  disk = memoryStore();
  for (const id of known.keys()) await disk.done(id);
  return lost;
}

const hooks = receiver({
  secrets: (kind) => secrets.get(kind),
  store,
  read: (delivery) => api.read(delivery),
}).on(['CREATE_PRODUCT', 'UPDATE_PRODUCT'], ({ sku }, { id, entityId }) => {
  if (sku !== entityId) throw new Error(`${sku} is not ${entityId}`);
  known.set(id, (known.get(id) ?? 0) + 1);
});
const answer = nodeListener(hooks);
const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));

const installation = await installationOfFile();
const program = await programOfFile(installation.env);
const { credentials } = installation;
const shop = await login(program.url, credentials);
const api: ReturnType<typeof waybill> = waybill({ url: program.url, ...credentials });
const port = await listenLocally(server);
// One by POST, one by GET.
for (const [webhookType, method] of [
  ['CREATE_PRODUCT', 'POST'],
  ['UPDATE_PRODUCT', 'GET'],
]) {
  const url = `http://127.0.0.1:${port}/hooks/`;
  const { data } = await shop.request('POST', '/webhooks', { url, webhookType, active: true, method });
  secrets.set(String(webhookType), data.secret);
}
afterAll(async () => {
  server.close();
  server.closeAllConnections();
});

const statesOf = async () => {
  const rows = await installation.sql<{ state: string; count: number }[]>`
    select state, count(*)::int as count from deliveries group by state`;
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
};

test('a receiver that loses one in a hundred acknowledged deliveries gets all of them back', async () => {
  for (let made = 0; made < PRODUCTS; made += 1) {
    const sku = `TEA ${made}`;
    await shop.request('POST', '/products', { sku, name: 'Tea' });
    await shop.request('PATCH', `/products/${encodeURIComponent(sku)}`, { name: 'Green tea' });
  }
  await until('everything to be delivered', async () => (await statesOf()).delivered === PRODUCTS * 2);
  expect(known.size).toBe(PRODUCTS * 2);
  const lost = await losePart();
  expect(known.size).toBe(PRODUCTS * 2 - lost.length);

  const filled: string[] = [];
  const found = await until('the log to be complete', async () => {
    const result = await reconcile(hooks, { api });
    expect(result.failed).toEqual([]);
    filled.push(...result.recovered.map(({ id }) => id));
    return result.seen === PRODUCTS * 2 && result;
  });
  expect(filled.sort()).toEqual([...lost].sort());
  expect(known.size).toBe(PRODUCTS * 2);
  // No delivery was handled twice.
  expect(new Set(known.values())).toEqual(new Set([1]));

  const again = await reconcile(hooks, { api, after: found.after });
  expect([again.seen, again.recovered, again.after]).toEqual([0, [], found.after]);
});
