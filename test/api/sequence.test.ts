/** The order of the events of a record: their sequence, their times, and `updatedAt`. */
import { describe, expect, test } from 'vitest';
import { addStock, minimalOrder, stockedProduct } from '../support/api/orders.ts';
import { insertWebhook } from '../support/database/events.ts';
import { apiOfFile, eshopOfEachTest } from '../support/lifetimes.ts';

const api = await apiOfFile();
// Records the order in which transactions were committed: it writes at COMMIT, while the locks are still held.
await api.sql`create table committed (event_id uuid primary key, place bigint generated always as identity)`;
await api.sql.unsafe(`
  create function note_commit() returns trigger language plpgsql as $$
    begin insert into committed (event_id) values (new.id); return null; end $$;
  create constraint trigger note_commit after insert on events
    deferrable initially deferred for each row execute function note_commit();`);
const { eshop } = eshopOfEachTest(api, async (made) => {
  await stockedProduct(made, 'TEA', '100');
});

interface Event {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly happenedAt: Date;
  readonly snapshot: { readonly updatedAt?: string; readonly note?: string | null };
}

/** The events of a record in commit order. */
async function committed(entityId: string, kind = 'ORDER'): Promise<Event[]> {
  return await api.sql<Event[]>`
    select e.id, e.type, e.sequence::int as sequence, e.happened_at, e.snapshot::json as snapshot
    from events e join committed c on c.event_id = e.id
    where e.eshop_id = ${eshop.eshopId} and e.entity_id = ${entityId} and e.type like ${`%${kind}%`}
    order by c.place`;
}
const sequences = (events: readonly Event[]) => events.map(({ sequence }) => sequence);
const from1 = (length: number) => Array.from({ length }, (_, index) => index + 1);
const times = (events: readonly Event[]) =>
  events.map(({ snapshot: { updatedAt = '' } }) => new Date(updatedAt).getTime());
const rises = (values: readonly number[]) =>
  values.every((value, at) => at === 0 || value > (values[at - 1] ?? value));

interface Tea {
  readonly updatedAt: string;
  readonly stock: { readonly reserved: number };
}
const tea = async (): Promise<Tea> => (await eshop.shop.request('GET', '/v21/products/TEA')).data;
const put = (path: string, body: object) => eshop.shop.request('PUT', path, body);
const newOrder = async (id: string, more: object = {}) => {
  const { orderProducts, eshopOrderId, ...created } = minimalOrder(id, more);
  expect(
    (await eshop.shop.request('POST', '/v21/orders', { eshopOrderId, orderProducts, ...created })).status,
  ).toBe(200);
};
const warehouse = async (path: string, body: object) => {
  const answer = await eshop.warehouse.request('PUT', `/v21/warehouse${path}`, body);
  expect(answer.text).toContain('"statusCode":200');
  return answer.data;
};

async function imported(lines: readonly object[]): Promise<void> {
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const ndjson = { 'content-type': 'application/x-ndjson' };
  const answer = await eshop.warehouse.request('POST', '/v21/warehouse/events/import', text, ndjson);
  const results = answer.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).statusCode);
  expect(new Set(results)).toEqual(new Set([200]));
}

test('twenty concurrent writes of an order number their events in commit order', async () => {
  await newOrder('race');
  const writers = from1(20).map((writer) =>
    put('/v21/orders/race', minimalOrder('race', { note: `by ${writer}` })),
  );
  const answers = await Promise.all(writers);
  expect(answers.map(({ status }) => status)).toEqual(from1(20).map(() => 200));
  const events = await committed('race');
  expect(sequences(events)).toEqual(from1(21));
  expect(rises(times(events))).toBe(true);
  // The last event has the stored record.
  const { data } = await eshop.shop.request('GET', '/v21/orders/race');
  expect([data.note, data.updatedAt]).toEqual([
    events.at(-1)?.snapshot.note,
    events.at(-1)?.snapshot.updatedAt,
  ]);
});

test('every import line that changes a record takes the next number, and a later time', async () => {
  await newOrder('lines');
  const packed = (number: number) => ({
    operation: 'orderPackingLists',
    id: 'lines',
    body: {
      orderProducts: [
        { sku: 'TEA', packingLists: [{ packageNumber: 1, quantity: 1, trackingNumber: `Z ${number}` }] },
      ],
    },
  });
  await imported(from1(120).map(packed));
  const events = await committed('lines');
  expect(sequences(events)).toEqual(from1(121));
  expect(rises(times(events))).toBe(true);
  expect(events.map(({ happenedAt }) => happenedAt.getTime())).toEqual(times(events));
  // The sequence goes on from there.
  await put('/v21/orders/lines', minimalOrder('lines', { note: 'afterwards' }));
  const all = await committed('lines');
  expect(sequences(all)).toEqual(from1(122));
  expect(rises(times(all))).toBe(true);
});

test('a refused line takes no number', async () => {
  await newOrder('refused');
  const text = [
    { operation: 'orderStatus', id: 'refused', body: { status: 'delivered' } },
    { operation: 'orderStatus', id: 'refused', body: { status: 'received' } },
  ].map((line) => JSON.stringify(line));
  await eshop.warehouse.request('POST', '/v21/warehouse/events/import', text.join('\n'), {
    'content-type': 'application/x-ndjson',
  });
  expect((await committed('refused')).map(({ type, sequence }) => [type, sequence])).toEqual([
    ['CREATE_ORDER', 1],
    ['UPDATE_ORDER_STATUS', 2],
  ]);
});

test('a write that fires two events takes two numbers, the update first; an unchanged one takes none', async () => {
  const eshopReturnId = 'back';
  const returnedOrderProducts = [{ sku: 'TEA', quantity: 1 }];
  await eshop.shop.request('POST', '/v21/returns', { eshopReturnId, returnedOrderProducts });
  await eshop.shop.request('PATCH', '/v21/returns/back', { rma: null });
  await warehouse('/returns/back/status', { status: 'arrived', note: 'torn' });
  await warehouse('/returns/back/status', { status: 'processing' });
  const events = await committed(eshopReturnId, 'RETURN');
  expect(events.map(({ type, sequence }) => [type, sequence])).toEqual([
    ['CREATE_RETURN', 1],
    ['UPDATE_RETURN', 2],
    ['UPDATE_RETURN_STATUS', 3],
    ['UPDATE_RETURN_STATUS', 4],
  ]);
});

describe('kinds of records', () => {
  test('a stock movement moves updatedAt of its product, and fires no product event', async () => {
    const before = await tea();
    const after: (typeof before)[] = [];
    for (const count of ['1', '2', '3']) {
      await addStock(eshop, 'TEA', count);
      after.push(await tea());
    }
    const seen = [before, ...after].map(({ updatedAt }) => new Date(updatedAt).getTime());
    expect(rises(seen)).toBe(true);
    await put('/v21/products/TEA', { sku: 'TEA', name: 'Green tea' });
    const events = await committed('TEA', 'PRODUCT');
    expect(sequences(events)).toEqual([1, 2]);
    expect(rises([...seen, times(events)[1] ?? 0])).toBe(true);
  });

  test('a reservation moves updatedAt of the products', async () => {
    await newOrder('reserves');
    const before = await tea();
    await warehouse('/orders/reserves/status', { status: 'received' });
    const after = await tea();
    expect(after.stock.reserved).toBe(1);
    expect(new Date(after.updatedAt).getTime()).toBeGreaterThan(new Date(before.updatedAt).getTime());
  });

  test('receivings have no updatedAt, but sequences and rising times', async () => {
    const eshopReceivingId = 'lorry';
    const body = {
      eshopReceivingId,
      supplier: 'Tea Ltd',
      duty: false,
      products: [{ sku: 'TEA', quantity: 5 }],
    };
    await eshop.shop.request('POST', '/v21/receivings', body);
    await imported(
      ['arrived', 'received', 'stocked'].map((status) => ({
        operation: 'receivingStatus',
        id: eshopReceivingId,
        body: { status },
      })),
    );
    const events = await committed(eshopReceivingId, 'RECEIVING');
    expect(sequences(events)).toEqual(from1(4));
    expect(rises(events.map(({ happenedAt }) => happenedAt.getTime()))).toBe(true);
    expect(events.some(({ snapshot }) => 'updatedAt' in snapshot)).toBe(false);
  });

  test('each stock movement is a record of its own, with sequence 1', async () => {
    await imported(
      from1(3).map(() => ({
        operation: 'stockMovement',
        body: { type: 'stock_correction', sku: 'TEA', count: 1 },
      })),
    );
    const rows = await api.sql<{ sequence: number }[]>`
      select sequence::int as sequence from events
      where eshop_id = ${eshop.eshopId} and type = 'CREATE_STOCK_MOVEMENT_STOCK_CORRECTION'`;
    expect(rows.map(({ sequence }) => sequence)).toEqual([1, 1, 1, 1]);
  });
});

test('a change is later than the one before, even if the clock was set back', async () => {
  await newOrder('clock');
  const ahead = '2031-01-01T00:00:00.000Z';
  await api.sql`update orders set updated_at = ${ahead} where eshop_id = ${eshop.eshopId} and eshop_order_id = 'clock'`;
  const { data } = await put('/v21/orders/clock', minimalOrder('clock', { note: 'later' }));
  expect(data.updatedAt).toBe('2031-01-01T00:00:00.001Z');
  await api.sql`update products set updated_at = ${ahead} where eshop_id = ${eshop.eshopId} and sku = 'TEA'`;
  await addStock(eshop, 'TEA', '1');
  expect((await tea()).updatedAt).toBe('2031-01-01T00:00:00.001Z');
});

test('deliveries and redeliveries show the sequence of their event at every webhook', async () => {
  const hooks = [1, 2].map(() => insertWebhook(api.sql, eshop.eshopId, 'UPDATE_ORDER'));
  const ids = await Promise.all(hooks);
  await newOrder('sent');
  await put('/v21/orders/sent', minimalOrder('sent', { note: 'one' }));
  await put('/v21/orders/sent', minimalOrder('sent', { note: 'two' }));
  const deliveries = await api.sql<{ id: string; sequence: number }[]>`
    select id, sequence::int as sequence from deliveries where webhook_id = any(${ids}::int[]) order by id`;
  expect(deliveries.map(({ sequence }) => sequence)).toEqual([2, 2, 3, 3]);
  const [{ id } = { id: '' }] = deliveries;
  const shown = async (path: string) => (await eshop.shop.request('GET', path)).data;
  const sequences = (rows: readonly { readonly sequence: number }[]) => rows.map(({ sequence }) => sequence);
  expect(sequences(await shown('/v21/deliveries?entityId=sent'))).toEqual([3, 3, 2, 2]);
  expect(sequences(await shown(`/v21/webhooks/${ids[0]}/deliveries`))).toEqual([3, 2]);
  expect(await shown(`/v21/deliveries/${id}`)).toMatchObject({ sequence: 2 });
  const events = await shown('/v21/events?entityId=sent');
  expect(sequences(events)).toEqual([3, 2, 1]);
  expect(await shown(`/v2/events/${events[0].id}`)).toMatchObject({ sequence: 3 });
  const payload = await eshop.shop.request('GET', `/v21/deliveries/${id}/payload`);
  expect(payload.headers.get('x-service-sequence')).toBe('2');
  expect(payload.text).not.toContain('sequence');
  await api.sql`update deliveries set state = 'failed', finished_at = now() where id = ${id}`;
  await eshop.shop.request('POST', `/v21/deliveries/${id}/redeliver`);
  const [again] = await api.sql<{ sequence: number }[]>`
    select d.sequence::int as sequence from deliveries d join redeliveries r on r.delivery_id = d.id where r.redelivers = ${id}`;
  expect(again?.sequence).toBe(2);
});
