/** The kit with the order of a record's events: an outdated event is acknowledged, but not handled. */
import { describe, expect, it } from 'vitest';
import {
  type Delivery,
  Gone,
  memoryOrder,
  memoryStore,
  type Order,
  type ReceiverOptions,
  receiver,
  reconcile,
} from '../../receiver/src/index.ts';
import { type FakeOptions, fakeDelivery, testSecret } from '../../receiver/src/testing.ts';
import { later } from '../support/later.ts';
import { until } from '../support/until.ts';

function setUp(options: Partial<ReceiverOptions> = {}) {
  const seen: string[] = [];
  const problems: unknown[] = [];
  const hooks = receiver({
    secrets: testSecret,
    store: memoryStore(),
    order: memoryOrder(),
    onProblem: (problem) => problems.push(problem),
    ...options,
  }).otherwise((_, { kind, sequence }: Delivery) => void seen.push(`${kind} ${sequence}`));
  const send = async (
    sequence: number,
    kind: 'CREATE_ORDER' | 'UPDATE_ORDER' | 'UPDATE_PRODUCT' = 'UPDATE_ORDER',
    more: FakeOptions<'UPDATE_ORDER', 'v2'> = {},
  ) => {
    const request =
      kind === 'UPDATE_PRODUCT'
        ? await fakeDelivery(kind, { sequence })
        : await fakeDelivery(kind, { sequence, ...more });
    const response = await hooks(request);
    return [response.status, (await response.text()).trim()] as const;
  };
  return { hooks, seen, problems, send };
}
const stale = [200, expect.stringContaining('a later event of this record')];
const handled = [200, 'Handled.'];

describe('with an order', () => {
  it('an event below the last sequence of its record is stale; gaps and equal ones are not', async () => {
    const { send, seen } = setUp();
    expect(await send(3)).toEqual(handled);
    expect(await send(1, 'CREATE_ORDER')).toEqual(stale);
    expect(await send(3)).toEqual(handled);
    expect(await send(9)).toEqual(handled);
    expect(await send(8)).toEqual(stale);
    expect(seen).toEqual(['UPDATE_ORDER 3', 'UPDATE_ORDER 3', 'UPDATE_ORDER 9']);
  });

  it('each record has an order of its own, even across kinds', async () => {
    const { send } = setUp();
    expect(await send(5)).toEqual(handled);
    expect(await send(1, 'UPDATE_ORDER', { payload: { eshopOrderId: 'another' } })).toEqual(handled);
    expect(await send(1, 'UPDATE_PRODUCT')).toEqual(handled);
  });

  it('a repeat of a handled delivery is acknowledged, and advances the order', async () => {
    let now = 0;
    const order = memoryOrder({ now: () => now });
    const { send } = setUp({ order: { ...order, advance: async () => Promise.reject(new Error('away')) } });
    const store = memoryStore();
    await store.done('d-7');
    expect((await send(7))[0]).toBe(500);
    // Its turn expires, as after the death of its process.
    now = 120_001;
    const again = setUp({ order, store });
    expect(await again.send(7, 'UPDATE_ORDER', { id: 'd-7' })).toEqual([
      200,
      expect.stringContaining('repeat'),
    ]);
    expect(await again.send(6)).toEqual(stale);
  });

  it('the order advances only after the handler has succeeded', async () => {
    const failures = [new Error('no'), new Gone()];
    const order = memoryOrder();
    const failing = receiver({
      secrets: testSecret,
      store: memoryStore(),
      order,
      onProblem: () => {},
    }).otherwise(() => {
      throw failures.shift();
    });
    for (const status of [500, 410]) {
      const response = await failing(await fakeDelivery('UPDATE_ORDER', { sequence: 9 }));
      expect(response.status).toBe(status);
    }
    const { send } = setUp({ order });
    expect(await send(4)).toEqual(handled);
  });

  /** A receiver whose handler is held with the first delivery. */
  async function setUpHeld(more: Partial<ReceiverOptions> = {}) {
    const [held, finish] = later();
    const { store = memoryStore(), order = memoryOrder() } = more;
    const seen: number[] = [];
    const hooks = receiver({ secrets: testSecret, store, order }).otherwise(async (_, { sequence }) => {
      seen.push(sequence);
      if (seen.length === 1) await held;
    });
    const first = hooks(await fakeDelivery('UPDATE_ORDER', { sequence: 2 }));
    await until('the handler to run', () => Promise.resolve(seen.length === 1));
    return { hooks, first, finish, seen };
  }

  it('deliveries of a record are handled one at a time', async () => {
    const order = memoryOrder();
    let asked = 0;
    const begin: Order['begin'] = (...turn) => {
      asked += 1;
      return order.begin(...turn);
    };
    const { hooks, first, finish, seen } = await setUpHeld({ order: { ...order, begin } });
    const begunAt = performance.now();
    const others = [3, 1].map(async (sequence) => hooks(await fakeDelivery('UPDATE_ORDER', { sequence })));
    // Each other one has found the turn taken.
    await until('the others to ask', () => Promise.resolve(asked >= 3));
    finish();
    expect((await first).status).toBe(200);
    const handledAs = (await Promise.all(others)).map(({ headers }) => headers.get('x-waybill-handled'));
    expect(handledAs).toEqual(['new', 'stale']);
    expect(seen).toEqual([2, 3]);
    // Not as long as it would wait at most.
    expect(performance.now() - begunAt).toBeLessThan(1_900);
  });

  it('a delivery is told to come again if its turn is not free within two seconds', async () => {
    const { hooks, first, finish, seen } = await setUpHeld();
    const begunAt = performance.now();
    const second = await hooks(await fakeDelivery('UPDATE_ORDER', { sequence: 3 }));
    expect(performance.now() - begunAt).toBeGreaterThan(1_900);
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await second.text()).toBe('An earlier request about its record is still being handled.\n');
    finish();
    expect((await first).status).toBe(200);
    expect(seen).toEqual([2]);
  });

  it('a turn whose process died expires', async () => {
    let now = 0;
    const order = memoryOrder({ now: () => now });
    expect(await order.begin('r', 'one', 1_000)).toBe(0);
    expect(await order.begin('r', 'two', 1_000)).toBe('busy');
    now = 1_001;
    expect(await order.begin('r', 'two', 1_000)).toBe(0);
    // Too late: its turn is over.
    await order.release('r', 'one');
    expect(await order.begin('r', 'three', 1_000)).toBe('busy');
    await order.advance('r', 'one', 5);
    expect(await order.begin('r', 'three', 1_000)).toBe('busy');
    await order.advance('r', 'two', 4);
    expect(await order.begin('r', 'three', 1_000)).toBe(5);
  });

  it('tests have an order of their own', async () => {
    const { send } = setUp({ tests: 'handle' });
    expect(await send(5, 'UPDATE_ORDER', { test: true })).toEqual(handled);
    expect(await send(1)).toEqual(handled);
    expect(await send(1, 'UPDATE_ORDER', { test: true })).toEqual(stale);
  });

  const missing = {
    id: '019a0000-0000-7000-8000-000000000001',
    webhookId: 7,
    eventId: 'e',
    webhookType: 'UPDATE_ORDER',
    entityId: '2026-10001',
    sequence: 4,
    state: 'failed',
  } as const;
  const api = {
    deliveries: async () => ({ deliveries: [missing], cursor: { after: missing.id, more: false } }),
    delivery: async () => missing,
    payload: async () => ({ method: 'POST' as const, body: '{"eshopOrderId":"2026-10001"}' }),
    read: async () => ({}),
  };

  it('reconcile settles outdated deliveries without a handler', async () => {
    const store = memoryStore();
    const { hooks, send, seen } = setUp({ store });
    await send(5);
    const found = await reconcile(hooks, { api });
    expect(found).toMatchObject({ recovered: [], failed: [], after: missing.id });
    expect(seen).toEqual(['UPDATE_ORDER 5']);
    expect(await store.handledOf([missing.id])).toEqual(new Set([missing.id]));
  });

  it('reconcile reports that the turn of a record is taken', async () => {
    const { hooks, seen } = setUp({ order: { ...memoryOrder(), begin: async () => 'busy' } });
    const { failed } = await reconcile(hooks, { api });
    expect(failed).toMatchObject([
      {
        problem: new Error(
          `A delivery of the same record as ${missing.id} is being handled by somebody else.`,
        ),
      },
    ]);
    expect(seen).toEqual([]);
  });
});

it('without an order, every event is handled', async () => {
  const hooks = receiver({ secrets: testSecret, store: memoryStore() }).otherwise(() => {});
  for (const sequence of [5, 1]) {
    const response = await hooks(await fakeDelivery('UPDATE_ORDER', { sequence }));
    expect(await response.text()).toBe('Handled.\n');
  }
});

it('an order that lacks a method is refused at once', () => {
  const order: Order = JSON.parse('{}');
  expect(() => receiver({ secrets: testSecret, store: memoryStore(), order })).toThrow('no method begin');
});
