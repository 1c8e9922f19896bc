/**
 * The life of an order: statuses, release, cancellation, packing lists, and the events of each write.
 */
import { describe, expect, test } from 'vitest';
import { databaseTime } from '../../src/db/clock.ts';
import { readReleaseTime, releasePreOrder } from '../../src/db/records/order-release.ts';
import { fullOrder, minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { firedEvents, firedTypes, insertWebhook, releaseChanges } from '../support/database/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
await stockedProducts(api.eshop);

const move = (id: string, status: string, note?: string) =>
  api.warehouse(
    'PUT',
    `/v21/warehouse/orders/${id}/status`,
    note === undefined ? { status } : { status, note },
  );
const fired = (id: string) => firedTypes(api.sql, api.eshop.eshopId, id);
const timer = (id: string) => releaseChanges(api.sql, api.eshop.eshopId, id);
const far = '2100-01-01T00:00:00.000Z';

describe('statuses', () => {
  // The table of all ways: test/unit/status-moves.test.ts.
  test('an order on its whole way records a history, times and one event per step', async () => {
    await api.shop('POST', '/v21/orders', minimalOrder('way'));
    const steps = ['received', 'processing', 'packed', 'waitingForCarrier', 'onTheWay', 'delivered'];
    for (const step of steps) await move('way', step, `note of ${step}`);
    const { data } = await api.shop('GET', '/v21/orders/way');
    expect(data.statusHistory.map(({ status }: { status: string }) => status)).toEqual([
      'preReceived',
      ...steps,
    ]);
    expect(data.statusHistory.at(-1)).toEqual({
      status: 'delivered',
      at: data.deliveredAt,
      note: 'note of delivered',
    });
    expect(data.canceledAt).toBeNull();
    expect(await fired('way')).toEqual(['CREATE_ORDER', ...steps.map(() => 'UPDATE_ORDER_STATUS')]);
    const [, second] = await firedEvents(api.sql, api.eshop.eshopId, 'way');
    expect(JSON.parse(second?.snapshot ?? '').status).toBe('received');
  });

  test('forbidden transitions, unknown statuses and shop users change nothing', async () => {
    await api.shop('POST', '/v21/orders', minimalOrder('stay'));
    const { data: before } = await api.shop('GET', '/v21/orders/stay');
    expect((await move('stay', 'delivered')).body).toEqual({
      statusCode: 409,
      error: 'Conflict',
      message:
        'The order is preReceived and cannot become delivered: it can become received, suspended, waitingForPayment, incorrect, canceled.',
    });
    expect((await move('stay', 'preReceived')).status).toBe(409);
    expect((await move('stay', 'gone')).status).toBe(400);
    const asShop = await api.shop('PUT', '/v21/warehouse/orders/stay/status', { status: 'received' });
    expect(asShop.status).toBe(403);
    expect((await api.shop('GET', '/v21/orders/stay')).data).toEqual(before);
    expect(await fired('stay')).toEqual(['CREATE_ORDER']);
  });

  test('two simultaneous moves to the same status: one succeeds, the other gets 409', async () => {
    await api.shop('POST', '/v21/orders', minimalOrder('both'));
    await move('both', 'received');
    const answers = await Promise.all([move('both', 'processing'), move('both', 'processing')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await fired('both')).filter((type) => type === 'UPDATE_ORDER_STATUS')).toHaveLength(2);
  });

  test('the e-shop can cancel as long as the table allows it', async () => {
    await api.shop('POST', '/v21/orders', minimalOrder('cancel'));
    const canceled = await api.shop('POST', '/v21/orders/cancel/cancel');
    expect(canceled.data).toMatchObject({ status: 'canceled', canceledAt: canceled.data.updatedAt });
    expect((await api.shop('POST', '/v21/orders/cancel/cancel')).status).toBe(409);
    expect((await api.shop('PATCH', '/v21/orders/cancel', { branch: 'x' })).status).toBe(409);
    expect(await fired('cancel')).toEqual(['CREATE_ORDER', 'UPDATE_ORDER_STATUS']);
  });
});

describe('pre-orders', () => {
  const preOrder = (id: string, releaseAt: string | null) =>
    api.shop('POST', '/v21/orders', minimalOrder(id, { status: 'preOrder', releaseAt }));

  test('every change to the release time reaches the timer, and nothing else does', async () => {
    await preOrder('pre-1', far);
    expect(await timer('pre-1')).toBe(1);
    await api.shop('PATCH', '/v21/orders/pre-1', { note: 'x' });
    expect(await timer('pre-1')).toBe(1);
    await api.shop('PATCH', '/v21/orders/pre-1', { releaseAt: '2101-01-01T00:00:00Z' });
    expect(await timer('pre-1')).toBe(2);
    await api.shop('PATCH', '/v21/orders/pre-1', { releaseAt: null });
    expect(await timer('pre-1')).toBe(3);
    await api.shop('PATCH', '/v21/orders/pre-1', { releaseAt: far });
    const before = api.notified();
    await api.shop('POST', '/v21/orders/pre-1/release');
    expect(await timer('pre-1')).toBe(5);
    expect(api.notified()).toBe(before + 1);
    expect(await fired('pre-1')).toEqual([
      'CREATE_ORDER',
      'UPDATE_ORDER',
      'UPDATE_ORDER',
      'UPDATE_ORDER',
      'UPDATE_ORDER',
      'UPDATE_ORDER_STATUS',
    ]);
    expect((await api.shop('POST', '/v21/orders/pre-1/release')).body.message).toBe(
      'The order is preReceived: only a preOrder can be released.',
    );
  });

  test('a cancellation ends the timer; a pre-order without a time has none', async () => {
    await preOrder('pre-2', far);
    await api.shop('POST', '/v21/orders/pre-2/cancel');
    expect(await timer('pre-2')).toBe(2);
    await preOrder('pre-3', null);
    await api.shop('POST', '/v21/orders/pre-3/release');
    expect(await timer('pre-3')).toBe(0);
  });

  test('the timer releases a due order once, and a postponed order not at all', async () => {
    const { eshopId } = api.eshop;
    const now = await databaseTime(api.sql);
    await preOrder('pre-4', far);
    expect(await readReleaseTime(api.sql, eshopId, 'pre-4')).toMatchObject({ releaseAt: Date.parse(far) });
    const release = () => releasePreOrder(api.sql, eshopId, 'pre-4');
    expect(await release()).toBe(false);
    await api.sql`update orders set release_at = ${now} where eshop_id = ${eshopId} and eshop_order_id = 'pre-4'`;
    const both = await Promise.all([release(), release()]);
    expect(both.sort()).toEqual([false, true]);
    expect(await release()).toBe(false);
    expect(await readReleaseTime(api.sql, eshopId, 'pre-4')).toBeNull();
    expect((await api.shop('GET', '/v21/orders/pre-4')).data).toMatchObject({
      status: 'preReceived',
      releaseAt: now.toISOString(),
    });
    expect(await fired('pre-4')).toEqual(['CREATE_ORDER', 'UPDATE_ORDER_STATUS']);
    expect(await timer('pre-4')).toBe(1);
    expect(await releasePreOrder(api.sql, eshopId, 'never')).toBe(false);
  });
});

describe('packing lists', () => {
  const lists = {
    orderProducts: [
      {
        sku: 'CUP',
        packingLists: [
          {
            packageNumber: 1,
            packageType: 'carton',
            sscc: '185912345678901236',
            trackingNumber: 'Z 1',
            weight: 850,
            quantity: '2.0',
            lot: null,
            expirationDate: '2030-01-01T00:00:00+01:00',
            serialNumbers: ['S1', 'S2'],
          },
          { packageNumber: 2, quantity: 1 },
        ],
      },
    ],
  };
  const put = (id: string, body: object) =>
    api.warehouse('PUT', `/v21/warehouse/orders/${id}/packing-lists`, body);

  test('all lists are returned on request, in both forms, and fire UPDATE_ORDER', async () => {
    await api.shop('POST', '/v21/orders', fullOrder('pack'));
    const answer = await put('pack', lists);
    expect(answer.status, answer.text).toBe(200);
    const detail = async (path: string) => (await api.shop('GET', path)).data.orderProducts;
    const [tea, cup] = await detail('/v21/orders/pack?withPackingLists=true');
    expect(tea.packingLists).toEqual([]);
    expect(cup.packingLists).toEqual([
      { ...lists.orderProducts[0]?.packingLists[0], quantity: 2, expirationDate: '2029-12-31T23:00:00.000Z' },
      {
        packageNumber: 2,
        packageType: null,
        sscc: null,
        trackingNumber: null,
        weight: null,
        quantity: 1,
        lot: null,
        expirationDate: null,
        serialNumbers: [],
      },
    ]);
    const v2 = await detail('/v2/orders/pack?withPackingLists=true');
    expect(v2[1].packingLists[0]).toMatchObject({ quantity: '2', weight: 850, packageNumber: 1 });
    for (const path of ['/v21/orders/pack', '/v2/orders/pack?withPackingLists=false']) {
      expect(await detail(path)).not.toContainEqual(
        expect.objectContaining({ packingLists: expect.anything() }),
      );
    }
    expect((await api.shop('GET', '/v21/orders/pack?withPackingLists=yes')).status).toBe(400);
    const events = await firedEvents(api.sql, api.eshop.eshopId, 'pack');
    expect(events.map(({ type }) => type)).toEqual(['CREATE_ORDER', 'UPDATE_ORDER']);
    expect(JSON.parse(events[1]?.snapshot ?? '').orderProducts[1].packingLists).toHaveLength(2);

    await put('pack', lists);
    expect(await fired('pack')).toHaveLength(2);
    await api.shop('PATCH', '/v21/orders/pack', { note: 'they stay' });
    const kept = await api.shop('GET', '/v2/orders/pack?withPackingLists=true');
    await api.shop('PUT', '/v21/orders/pack', kept.data);
    expect(await detail('/v2/orders/pack?withPackingLists=true')).toEqual(v2);
    await put('pack', { orderProducts: [] });
    expect((await detail('/v2/orders/pack?withPackingLists=true'))[1].packingLists).toEqual([]);
  });

  test('wrong check digits and products that are not on the order are refused', async () => {
    await api.shop('POST', '/v21/orders', minimalOrder('pack-2'));
    const packed = (sku: string, sscc?: string) => ({
      sku,
      packingLists: [{ packageNumber: 1, quantity: 1, ...(sscc === undefined ? {} : { sscc }) }],
    });
    const message = async (...orderProducts: object[]) =>
      (await put('pack-2', { orderProducts })).body.message;
    expect(await message(packed('TEA', '185912345678901237'))).toBe(
      'orderProducts.0.packingLists.0.sscc: must be 18 digits with a valid check digit',
    );
    expect(await message(packed('TEA', '18591234567890123'))).toContain('sscc: must be 18 digits');
    expect(await message(packed('TEA'), packed('TEA'), packed('CUP'))).toBe(
      'orderProducts.1.sku: "TEA" is not on any (other) line of the order; orderProducts.2.sku: "CUP" is not on any (other) line of the order',
    );
    expect(await fired('pack-2')).toEqual(['CREATE_ORDER']);
  });
});

test('an event creates deliveries for active webhooks of its type and e-shop only', async () => {
  const other = await api.newEshop();
  const { eshopId } = api.eshop;
  const first = await insertWebhook(api.sql, eshopId, 'CREATE_ORDER');
  const second = await insertWebhook(api.sql, eshopId, 'CREATE_ORDER');
  await insertWebhook(api.sql, eshopId, 'CREATE_ORDER', { active: false });
  await insertWebhook(api.sql, eshopId, 'CREATE_ORDER', { deleted: true });
  await insertWebhook(api.sql, other.eshopId, 'CREATE_ORDER');
  const status = await insertWebhook(api.sql, eshopId, 'UPDATE_ORDER_STATUS');
  const before = api.notified();
  await api.shop('POST', '/v21/orders', minimalOrder('hooks'));
  expect(api.notified()).toBe(before + 1);
  await api.shop('PATCH', '/v21/orders/hooks', { note: 'nobody listens' });
  expect(api.notified()).toBe(before + 1);
  await move('hooks', 'received');
  const events = await firedEvents(api.sql, eshopId, 'hooks');
  expect(events.map(({ type, webhookIds }) => [type, webhookIds])).toEqual([
    ['CREATE_ORDER', [first, second]],
    ['UPDATE_ORDER', []],
    ['UPDATE_ORDER_STATUS', [status]],
  ]);
  const [row] = await api.sql`
      select d.state, d.event_type, d.entity_id, d.attempts_made, d.dispatched_at
      from deliveries d where webhook_id = ${status} and entity_id = 'hooks'`;
  expect(row).toEqual({
    state: 'pending',
    eventType: 'UPDATE_ORDER_STATUS',
    entityId: 'hooks',
    attemptsMade: 0,
    dispatchedAt: null,
  });
});

test('concurrent updates give as many different snapshots', async () => {
  await api.shop('POST', '/v21/orders', minimalOrder('quick'));
  const notes = Array.from({ length: 8 }, (_, index) => `note ${index}`);
  await Promise.all(notes.map((note) => api.shop('PATCH', '/v21/orders/quick', { note })));
  const snapshots = (await firedEvents(api.sql, api.eshop.eshopId, 'quick'))
    .filter(({ type }) => type === 'UPDATE_ORDER')
    .map(({ snapshot }) => JSON.parse(snapshot).note);
  expect(snapshots.sort()).toEqual(notes);
});

test('a write that changes nothing fires no event, however it is spelled', async () => {
  await api.shop('POST', '/v21/orders', fullOrder('same'));
  const { data } = await api.shop('GET', '/v21/orders/same');
  const again = await api.shop('PATCH', '/v21/orders/same', {
    cashOnDelivery: 1249.9,
    requiredExpeditionDate: '2030-01-02T01:04:05.678Z',
    orderProducts: [
      { sku: 'TEA', quantity: '2.50', unitPrice: '349.9', vatRate: 12, lot: 'L1' },
      { quantity: 3, sku: 'CUP', unitPrice: '0.1234', vatRate: '21.00', lot: null },
    ],
  });
  expect(again.data).toEqual(data);
  expect(await fired('same')).toEqual(['CREATE_ORDER']);
});

test('events are written with the whole change, or not at all', async () => {
  await api.shop('POST', '/v21/orders', minimalOrder('whole', { note: 'before' }));
  // A trigger that stands for any failure between the order's row and the commit.
  await api.sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
      create trigger refuse before insert on deliveries for each row execute function refuse();`);
  await insertWebhook(api.sql, api.eshop.eshopId, 'UPDATE_ORDER');
  try {
    const failed = await api.shop('PATCH', '/v21/orders/whole', {
      note: 'after',
      orderProducts: [{ sku: 'CUP', quantity: 9 }],
    });
    expect(failed.status).toBe(500);
    expect(failed.body.message).not.toContain('refused');
    const created = await api.shop('POST', '/v21/orders', minimalOrder('whole-2'));
    expect(created.status).toBe(500);
  } finally {
    await api.sql.unsafe('drop trigger refuse on deliveries; drop function refuse;');
  }
  expect((await api.shop('GET', '/v21/orders/whole')).data).toMatchObject({
    note: 'before',
    orderProducts: [{ sku: 'TEA' }],
  });
  expect(await fired('whole')).toEqual(['CREATE_ORDER']);
  expect((await api.shop('GET', '/v21/orders/whole-2')).status).toBe(404);
  expect(await fired('whole-2')).toEqual([]);
});
