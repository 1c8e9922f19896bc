/** The deliveries of an e-shop across its webhooks: filters, pages, and a cursor that misses nothing. */
import { describe, expect, test } from 'vitest';
import { waybill } from '../../receiver/src/index.ts';
import { createPool, type Pool } from '../../src/db/connection/pool.ts';
import { closeDelivery } from '../../src/db/deliveries/deliveries.ts';
import { type Transaction, transaction } from '../../src/db/transaction.ts';
import type { EventType } from '../../src/domain/event-types.ts';
import { accepted, exhaustDelivery, makeAttempt } from '../support/database/deliveries.ts';
import { insertDeliveryOf, insertEventAt } from '../support/database/event-rows.ts';
import { insertWebhook } from '../support/database/events.ts';
import { recordEvent } from '../support/database/record-event.ts';
import { later } from '../support/later.ts';
import { apiOfFile, eshopOfEachTest } from '../support/lifetimes.ts';

/** A second or two, unless the machine is busy. */
const SOON = { timeout: 60_000 };
const BEGINNING = '00000000-0000-0000-0000-000000000000';

const api = await apiOfFile();
const { eshop } = eshopOfEachTest(api);

const get = (query = '', version = 'v21') => eshop.shop.request('GET', `/${version}/deliveries${query}`);
const webhook = (type: EventType = 'CREATE_ORDER') => insertWebhook(api.sql, eshop.eshopId, type);
const path = (id: number, rest = '') => `/v21/webhooks/${id}${rest}`;

async function ids(query = ''): Promise<string[]> {
  const answer = await get(query);
  expect(answer.body).toMatchObject({ statusCode: 200, message: 'Deliveries found.' });
  return answer.data.map(({ id }: { id: string }) => id);
}

/** Fires one event; answers the ids of its deliveries, by webhook. */
async function fire(entityId = '10001', type: EventType = 'CREATE_ORDER'): Promise<Map<number, string>> {
  await transaction(api.sql, (tx) => recordEvent(tx, { eshopId: eshop.eshopId, type, entityId, record: {} }));
  const rows = await api.sql<{ id: string; webhookId: number }[]>`
    select id, webhook_id from deliveries where event_id = (select max(id::text)::uuid from events) order by id`;
  return new Map(rows.map(({ id, webhookId }) => [webhookId, id]));
}

const all = (...fired: Map<number, string>[]) => fired.flatMap((each) => [...each.values()]);

test('deliveries of all webhooks are listed newest first, paged, under both versions', async () => {
  await webhook();
  await webhook();
  const made = all(await fire('1'), await fire('2'), await fire('3')).toReversed();
  expect(await ids()).toEqual(made);
  const page = await get('?items=4&page=2');
  expect(page.data.map(({ id }: { id: string }) => id)).toEqual(made.slice(4));
  expect(page.body.pagination).toEqual({ page: 2, items: 4, totalCount: 6, totalPages: 2 });
  expect(page.body).not.toHaveProperty('cursor');
  expect((await get('', 'v2')).data).toEqual((await get()).data);
  expect((await get('?items=1')).data[0]).toEqual(
    (await eshop.shop.request('GET', path(Number((await get()).data[0].webhookId), '/deliveries?items=1')))
      .data[0],
  );
});

test('filters by webhook, type and entity can be combined', async () => {
  const [orders, others] = [await webhook(), await webhook()];
  const products = await webhook('CREATE_PRODUCT');
  const odd = 'A/1 ž&x=1';
  const first = await fire(odd);
  const second = await fire('10001');
  const product = await fire(odd, 'CREATE_PRODUCT');
  expect(await ids(`?webhookId=${orders}`)).toEqual([second.get(orders), first.get(orders)]);
  expect(await ids('?webhookType=CREATE_PRODUCT')).toEqual([product.get(products)]);
  expect(await ids('?webhookType=UPDATE_PRODUCT')).toEqual([]);
  const entity = encodeURIComponent(odd);
  expect(await ids(`?entityId=${entity}`)).toEqual(all(first, product).toReversed());
  expect(await ids(`?entityId=${entity}&webhookId=${others}`)).toEqual([first.get(others)]);
  expect(await ids(`?entityId=${entity}&webhookType=CREATE_PRODUCT`)).toEqual([product.get(products)]);
  expect((await get(`?entityId=${entity}&items=1`)).body.pagination).toMatchObject({ totalCount: 3 });
  for (const nothing of ['webhookId=2147483647', 'webhookId=999999999999', 'webhookId=-1', 'entityId=x']) {
    expect(await ids(`?${nothing}`)).toEqual([]);
  }
});

test('after a change of type, deliveries are found by the type of their event', async () => {
  const id = await webhook();
  const before = await fire('1');
  const changed = { url: 'https://shop.example', webhookType: 'UPDATE_ORDER', active: true, method: 'POST' };
  expect((await eshop.shop.request('PUT', path(id), changed)).status).toBe(200);
  const after = await fire('1', 'UPDATE_ORDER');
  expect(await ids('?webhookType=CREATE_ORDER')).toEqual(all(before));
  expect(await ids('?webhookType=UPDATE_ORDER')).toEqual(all(after));
});

test('deliveries are filtered by state, and are `held` as soon as their webhook is inactive', async () => {
  const [one, two] = [await webhook(), await webhook()];
  const at = (fired: Map<number, string>, id = one) => fired.get(id) ?? '';
  const [pending, retrying, delivered] = [await fire(), await fire(), await fire()];
  const [expired, canceled] = [await fire(), await fire()];
  await makeAttempt(api.sql, at(retrying), 1, { nextAttemptAt: new Date('2030-11-20T11:00:00Z') });
  await makeAttempt(api.sql, at(delivered), 1, accepted);
  await closeDelivery(api.sql, at(expired), 'expired');
  await closeDelivery(api.sql, at(canceled), 'canceled');
  const ofOne = (state: string) => ids(`?webhookId=${one}&state=${state}`);
  expect(await ofOne('pending')).toEqual([at(pending)]);
  expect(await ofOne('retrying')).toEqual([at(retrying)]);
  expect(await ofOne('held')).toEqual([]);
  expect(await ids('?state=delivered')).toEqual([at(delivered)]);
  expect(await ids('?state=expired')).toEqual([at(expired)]);
  expect(await ids('?state=canceled')).toEqual([at(canceled)]);

  const failed = await fire();
  await exhaustDelivery(api.sql, at(failed));
  expect(await ids('?state=failed')).toEqual([at(failed)]);
  expect(await ids('?state=held')).toEqual([at(retrying), at(pending)]);
  expect(await ofOne('pending')).toEqual([]);
  expect(await ids(`?state=pending&webhookId=${two}`)).toHaveLength(6);
  const states = (await get()).data.map(({ state }: { state: string }) => state);
  expect(states.filter((state: string) => state === 'held')).toHaveLength(2);
});

test('since (inclusive) and until (exclusive) filter by the time of the event, even for redeliveries', async () => {
  const webhookId = await webhook();
  const [ten, eleven, twelve] = ['10', '11', '12'].map((hour) => new Date(`2026-11-20T${hour}:00:00Z`)) as [
    Date,
    Date,
    Date,
  ];
  const event = (at: Date, entityId?: string) =>
    insertEventAt(api.sql, at, { eshopId: eshop.eshopId, ...(entityId === undefined ? {} : { entityId }) });
  const [early, middle, late] = [await event(ten, '1'), await event(eleven), await event(twelve)];
  const of = (id: string, again?: Date) =>
    insertDeliveryOf(api.sql, id, { webhookId, ...(again === undefined ? {} : { again }) });
  const [first, second, third] = [await of(early), await of(middle), await of(late)];
  const repeated = await of(early, new Date('2026-11-20T13:00:00Z'));
  expect(await ids()).toEqual([repeated, third, second, first]);
  expect(await ids('?since=2026-11-20T11:00:00Z')).toEqual([third, second]);
  expect(await ids('?until=2026-11-20T12:00:00Z')).toEqual([repeated, second, first]);
  expect(await ids('?until=2026-11-20T14:00:00Z')).toEqual([repeated, third, second, first]);
  expect(await ids('?since=2026-11-20T11:00:00Z&until=2026-11-20T11:00:00.001Z')).toEqual([second]);
  expect(await ids('?entityId=1')).toEqual([repeated, first]);
  expect(await ids('?entityId=1&since=2026-11-20T11:00:00Z')).toEqual([]);
  expect(await ids('?entityId=1&until=2026-11-20T11:00:00Z&items=1')).toEqual([repeated]);
  expect(await ids(`?after=${third}`)).toEqual([repeated]);
  expect(await ids(`?entityId=1&after=${BEGINNING}`)).toEqual([first, repeated]);
  expect(await ids(`?until=2026-11-20T11:00:00Z&after=${first}`)).toEqual([repeated]);
});

test("another e-shop's deliveries and those of a deleted webhook do not exist", async () => {
  const [kept, deleted] = [await webhook(), await webhook()];
  const fired = await fire();
  const other = await api.newEshop();
  expect((await other.shop.request('GET', '/v21/deliveries')).data).toEqual([]);
  expect((await other.shop.request('GET', `/v21/deliveries?webhookId=${kept}`)).data).toEqual([]);
  expect(await ids()).toHaveLength(2);
  await eshop.shop.request('DELETE', path(deleted));
  for (const query of ['', '?entityId=10001', `?after=${BEGINNING}`, '?webhookType=CREATE_ORDER']) {
    await expect.poll(() => ids(query), SOON).toEqual([fired.get(kept)]);
  }
  expect((await get()).body.pagination).toMatchObject({ totalCount: 1 });
});

test('invalid query parameters are refused', async () => {
  for (const [wrong, message] of [
    ['state=open', 'state: '],
    ['after=1', 'after: must be a UUID'],
    [`after=${BEGINNING}&page=2`, 'page: cannot be combined with after'],
    ['page=101&items=100', 'page: must not reach beyond the first 10,000; use until or after'],
    ['since=yesterday', 'since: '],
    ['webhookId=x', 'webhookId: must be an integer'],
    ['entityId=', 'entityId: must not be empty'],
    [`entityId=${'x'.repeat(65)}`, 'entityId: must have at most 64 characters'],
    ['=1', '"": unknown field'],
    ['webhook=1', 'webhook: unknown field'],
    ['webhook=1&from=2', 'webhook: unknown field; from: unknown field'],
  ] as const) {
    const answer = await get(`?${wrong}`);
    expect(answer.status, wrong).toBe(400);
    expect(answer.body.message).toContain(message);
  }
  expect((await get('?page=100&items=100')).data).toEqual([]);
});

describe('reading from a cursor', () => {
  /** Reads to the end, a few at a time. */
  async function readOn(after: string, items = 2): Promise<{ read: string[]; cursor: string }> {
    const read: string[] = [];
    for (let cursor = after; ; ) {
      const { body, data } = await get(`?items=${items}&after=${cursor}`);
      expect(body).not.toHaveProperty('pagination');
      read.push(...data.map(({ id }: { id: string }) => id));
      const { after: next, more } = body.cursor as { after: string; more: boolean };
      expect(next).toBe(read.at(-1) ?? after);
      cursor = next;
      if (!more) return { read, cursor };
    }
  }

  test('everything is returned, oldest first, and then only new deliveries', async () => {
    await webhook();
    await webhook();
    const made = all(await fire('1'), await fire('2'));
    await expect.poll(() => readOn(BEGINNING), SOON).toMatchObject({ read: made });
    const { cursor } = await readOn(BEGINNING);
    expect(await readOn(cursor)).toEqual({ read: [], cursor });
    const more = all(await fire('3'));
    await expect.poll(() => readOn(cursor), SOON).toMatchObject({ read: more });
  });

  /** A transaction that does some work and is then held open; `commit` ends it. */
  async function heldOpen(
    sql: Pool,
    work: (tx: Transaction) => Promise<unknown>,
  ): Promise<() => Promise<void>> {
    const [released, release] = later();
    let ended: Promise<void> = Promise.resolve();
    await new Promise<void>((begun, failed) => {
      ended = transaction(sql, async (tx) => {
        await work(tx);
        begun();
        await released;
      });
      ended.catch(failed);
    });
    return async () => {
      release();
      await ended;
    };
  }

  const slowly = (tx: Transaction) =>
    recordEvent(tx, { eshopId: eshop.eshopId, type: 'CREATE_ORDER', entityId: 'slow', record: {} });

  test.each([
    ['by Waybill', 'waybill', slowly],
    ['by an operator', 'psql', slowly],
    ['after a transaction that has only read so far', 'waybill', (tx: Transaction) => tx`select 1`],
  ])('a delivery that is committed late is not skipped: %s', async (_, name, work) => {
    await webhook();
    const [before = ''] = all(await fire('before'));
    // The cursor must pass it before the other transaction begins: for its first second it would be held back too.
    await expect.poll(() => readOn(BEGINNING), SOON).toMatchObject({ cursor: before });
    const theirs = createPool(`${api.database.url}?application_name=${name}`, 1);
    const commit = await heldOpen(theirs, work);
    const [after] = all(await fire('fast'));
    // It is in the list at once, and not after the cursor, however long that takes.
    expect(await ids()).toEqual([after, before]);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await readOn(before)).toEqual({ read: [], cursor: before });
    await commit();
    await theirs.end();
    const slow = await ids('?entityId=slow');
    await expect.poll(() => readOn(before), SOON).toMatchObject({ read: [...slow, after] });
  });

  test('a cursor that begins now misses nothing that is still being written', async () => {
    await webhook();
    const { apiKey, shop } = eshop;
    const kit = waybill({
      url: 'http://waybill.test',
      apiKey,
      username: shop.username,
      password: shop.password,
      fetch: async (input, init) => await api.app.request(String(input), init),
    });
    const commit = await heldOpen(api.sql, slowly);
    await fire('fast');
    const cursor = await kit.newEvents();
    const { body, data } = await get('?after=FFFFFFFF-ffff-ffff-ffff-ffffffffffff');
    const { after, more } = body.cursor as { after: string; more: boolean };
    await commit();
    const events = async () => (await kit.events(cursor)).events.map(({ entityId }) => entityId);
    await expect.poll(events, SOON).toEqual(['slow', 'fast']);
    expect({ data, more }).toEqual({ data: [], more: false });
    const slow = await ids('?entityId=slow');
    await expect.poll(async () => (await readOn(after)).read, SOON).toContain(slow[0]);
  });
});
