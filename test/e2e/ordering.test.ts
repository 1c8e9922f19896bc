/** Order per record, as an e-shop sees it: no record waits needlessly, and none is overwritten by older data. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type ApiClient, login } from '../support/client.ts';
import { createInstallation, type Installation } from '../support/installation.ts';
import { type Program, startProgram } from '../support/program.ts';
import { createReceiver, type ReceivedRequest, type Receiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

let installation: Installation;
let program: Program;
let client: ApiClient;
let receiver: Receiver;

beforeAll(async () => {
  installation = await createInstallation();
  // Lets one delivery fail several times without exhausting its retries.
  const env = { ...installation.env, RETRY_INITIAL_INTERVAL: '500ms', RETRY_COEFFICIENT: '1.3' };
  program = await startProgram(env);
  client = await login(program.url, installation.credentials);
  receiver = await createReceiver();
});
afterEach(async () => {
  for (const { id } of (await client.request('GET', '/webhooks')).data)
    await client.request('DELETE', `/webhooks/${id}`);
  receiver.clear();
});
afterAll(async () => {
  await receiver?.close();
  await program?.stop();
  await installation?.remove();
});

const subscribe = (webhookType: string, ordering: string, origin = receiver.url) =>
  client.request('POST', '/webhooks', {
    url: `${origin}/${webhookType}`,
    ...{ webhookType, ordering, active: true, method: 'POST' },
  });
const recordOf = ({ text }: ReceivedRequest) => JSON.parse(text).eshopOrderId as string;
const sequenceOf = ({ headers }: ReceivedRequest) => Number(headers['x-service-sequence']);

/** An order created, changed five times, and canceled: seven events of three types. */
async function live(eshopOrderId: string): Promise<void> {
  expect((await client.createOrder(eshopOrderId)).statusCode).toBe(200);
  for (const note of ['a', 'b', 'c', 'd', 'e'])
    expect((await client.request('PATCH', `/orders/${eshopOrderId}`, { note })).statusCode).toBe(200);
  expect((await client.request('POST', `/orders/${eshopOrderId}/cancel`)).statusCode).toBe(200);
}

async function deliveriesIn(state: string): Promise<readonly { id: string; supersededBy: string | null }[]> {
  return (await client.request('GET', `/deliveries?state=${state}&items=100`)).data;
}

test('while one creation is refused other records pass; then the events of that one come, all of them, in order', async () => {
  for (const type of ['CREATE_ORDER', 'UPDATE_ORDER', 'UPDATE_ORDER_STATUS']) await subscribe(type, 'record');
  let refuses = true;
  receiver.respond((request) => ({ status: refuses && recordOf(request) === 'refused' ? 503 : 200 }));
  await live('refused');
  const others = Array.from({ length: 12 }, (_, index) => `other-${index}`);
  await Promise.all(others.map(live));
  const of = (id: string) => receiver.requests.filter((request) => recordOf(request) === id);
  await until('the other records', async () => others.every((id) => of(id).length === 7));
  for (const id of others) expect(of(id).map(sequenceOf)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  // Only its creation was attempted.
  expect(new Set(of('refused').map(sequenceOf))).toEqual(new Set([1]));
  const waiting = (
    await client.request('GET', '/deliveries?entityId=refused&webhookType=UPDATE_ORDER_STATUS')
  ).data[0];
  expect(waiting).toMatchObject({ state: 'pending', sequence: 7 });
  const [event] = (await client.request('GET', '/events?entityId=refused&webhookType=UPDATE_ORDER_STATUS'))
    .data;
  expect(event.webhooks[0].reason).toMatch(
    /^It waits behind delivery [0-9a-f-]{36}(, which is tried again at 20\S+Z)?\.$/,
  );

  refuses = false;
  await until('the rest of its events', async () => (await deliveriesIn('delivered')).length >= 91);
  const accepted = of('refused').filter((_, index, all) => index >= all.length - 7);
  expect(accepted.map(sequenceOf)).toEqual([1, 2, 3, 4, 5, 6, 7]);
}, 120_000);

test('where only the latest counts, ninety changes of three records are a few requests, and the newest comes last', async () => {
  const ids = ['first', 'second', 'third'];
  for (const id of ids) await client.createOrder(id);
  const { data: webhook } = await subscribe('UPDATE_ORDER', 'latest');
  receiver.respond({ status: 503 });
  for (let change = 1; change <= 30; change += 1)
    await Promise.all(
      ids.map((id) => client.request('PATCH', `/orders/${id}`, { note: `change ${change}` })),
    );
  await until('each to have been refused', async () => new Set(receiver.requests.map(recordOf)).size === 3);
  receiver.clear();
  receiver.respond({ status: 200 });
  await until('nothing to be open', async () => {
    const open = await Promise.all(['pending', 'retrying'].map(deliveriesIn));
    return open.flat().length === 0;
  });
  expect(receiver.requests.length).toBeLessThanOrEqual(9);
  for (const id of ids) {
    const last = receiver.requests.filter((request) => recordOf(request) === id).at(-1);
    expect(JSON.parse(last?.text ?? '{}').note).toBe('change 30');
  }
  const superseded = await deliveriesIn('superseded');
  expect(superseded.length).toBeGreaterThanOrEqual(75);
  for (const { supersededBy } of superseded) expect(supersededBy).toMatch(/^[0-9a-f-]{36}$/);
  const events = (await client.request('GET', '/events?entityId=first&webhookType=UPDATE_ORDER')).data;
  expect(events.at(-1).webhooks[0].reason).toMatch(/^It was superseded by delivery [0-9a-f-]{36}, of/);
  expect((await client.request('GET', `/webhooks/${webhook.id}`)).data).toMatchObject({ active: true });
}, 120_000);
