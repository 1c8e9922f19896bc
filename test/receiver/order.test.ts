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
  it('what is below the last of its record is stale, whatever its kind; gaps and equal ones are not', async () => {
    const { send, seen } = setUp();
    expect(await send(3)).toEqual(handled);
    expect(await send(1, 'CREATE_ORDER')).toEqual(stale);
    expect(await send(3)).toEqual(handled);
    expect(await send(9)).toEqual(handled);
    expect(await send(8)).toEqual(stale);
    expect(seen).toEqual(['UPDATE_ORDER 3', 'UPDATE_ORDER 3', 'UPDATE_ORDER 9']);
  });

  it('another record has an order of its own, also one of another kind', async () => {
    const { send } = setUp();
    expect(await send(5)).toEqual(handled);
    expect(await send(1, 'UPDATE_ORDER', { payload: { eshopOrderId: 'another' } })).toEqual(handled);
    expect(await send(1, 'UPDATE_PRODUCT')).toEqual(handled);
  });

  it('a repeat of what was handled is a repeat, and advances', async () => {
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

  it('it advances only after the handler succeeded', async () => {
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

  it('one delivery of a record at a time: another one comes again', async () => {
    const [held, finish] = later();
    const seen: number[] = [];
    const hooks = receiver({ secrets: testSecret, store: memoryStore(), order: memoryOrder() }).otherwise(
      async (_, { sequence }) => {
        seen.push(sequence);
        await held;
      },
    );
    const first = hooks(await fakeDelivery('UPDATE_ORDER', { sequence: 2 }));
    await until('the handler to run', () => Promise.resolve(seen.length === 1));
    const second = await hooks(await fakeDelivery('UPDATE_ORDER', { sequence: 1 }));
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '30']);
    finish();
    expect((await first).status).toBe(200);
    expect(seen).toEqual([2]);
  });

  it('a turn whose process died runs out', async () => {
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

  it('reconcile settles what is out of date without a handler', async () => {
    const store = memoryStore();
    const { hooks, send, seen } = setUp({ store });
    await send(5);
    const delivery = {
      id: '019a0000-0000-7000-8000-000000000001',
      webhookId: 7,
      eventId: 'e',
      webhookType: 'UPDATE_ORDER',
      entityId: '2026-10001',
      sequence: 4,
      state: 'failed',
    } as const;
    const found = await reconcile(hooks, {
      api: {
        deliveries: async () => ({ deliveries: [delivery], cursor: { after: delivery.id, more: false } }),
        delivery: async () => delivery,
        payload: async () => ({ method: 'POST', body: '{"eshopOrderId":"2026-10001"}' }),
        read: async () => ({}),
      },
    });
    expect(found).toMatchObject({ recovered: [], failed: [], after: delivery.id });
    expect(seen).toEqual(['UPDATE_ORDER 5']);
    expect(await store.handledOf([delivery.id])).toEqual(new Set([delivery.id]));
  });
});

it('without an order everything is handed on', async () => {
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
