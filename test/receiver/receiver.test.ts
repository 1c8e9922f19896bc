/** The receiver's kit from request to response: what it accepts and refuses; each delivery is handled once. */
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import {
  type Delivery,
  Gone,
  memoryStore,
  type Payload,
  type Receiver,
  type ReceiverOptions,
  RetryLater,
  receiver,
  type Store,
} from '../../receiver/src/index.ts';
import { fakeDelivery, testSecret } from '../../receiver/src/testing.ts';
import { parseRetryAfter } from '../../src/delivery/retry-after.ts';
import { later } from '../support/later.ts';
import { until } from '../support/until.ts';

const other = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

function setUp(options: Partial<ReceiverOptions> = {}) {
  const problems: unknown[] = [];
  const handled: [string, Delivery][] = [];
  const hooks = receiver({
    secrets: testSecret,
    store: memoryStore(),
    onProblem: (problem) => problems.push(problem),
    ...options,
  }).on('CREATE_ORDER', (order, delivery) => void handled.push([order.eshopOrderId, delivery]));
  return { hooks, handled, problems };
}
const said = async (response: Response) => [response.status, (await response.text()).trim()] as const;

describe('deliveries', () => {
  it('a delivery goes to the handler of its kind, with the values of its headers', async () => {
    const { hooks, handled, problems } = setUp();
    const at = new Date(Math.floor(Date.now() / 1_000) * 1_000);
    const event = { eventId: 'e-1', sequence: 12, webhookId: 7, happenedAt: new Date(at.getTime() - 5_000) };
    const written = { origin: 'shop', changed: ['note', 'paid'] } as const;
    const request = await fakeDelivery('CREATE_ORDER', { ...event, ...written, id: 'd-1', attempt: 3, at });
    expect(await said(await hooks(request))).toEqual([200, 'Handled.']);
    const delivery = {
      ...event,
      ...written,
      id: 'd-1',
      kind: 'CREATE_ORDER',
      entityId: '2026-10001',
      attempt: 3,
      test: false,
    };
    expect(handled).toEqual([['2026-10001', { ...delivery, method: 'POST', signedAt: at }]]);
    expect(problems).toEqual([]);
  });

  it('a delivery of another kind goes to otherwise, or gets 501 without it', async () => {
    const { hooks } = setUp();
    const request = () => fakeDelivery('CREATE_PRODUCT');
    expect((await said(await hooks(await request())))[0]).toBe(501);
    const kinds: string[] = [];
    const all = hooks.otherwise((_, { kind }) => kinds.push(kind));
    expect((await all(await request())).status).toBe(200);
    expect(kinds).toEqual(['CREATE_PRODUCT']);
  });

  it('several kinds can share a handler', async () => {
    const seen: string[] = [];
    const hooks = receiver({ secrets: testSecret, store: memoryStore() }).on(
      ['CREATE_ORDER', 'UPDATE_ORDER'],
      (order, { kind }) => seen.push(`${kind} ${order.eshopOrderId}`),
    );
    for (const kind of ['CREATE_ORDER', 'UPDATE_ORDER'] as const) await hooks(await fakeDelivery(kind));
    expect(seen).toEqual(['CREATE_ORDER 2026-10001', 'UPDATE_ORDER 2026-10001']);
  });

  it('a GET is read, and then goes to the same handler', async () => {
    const asked: (string | null)[] = [];
    const { hooks, handled } = setUp({
      read: async ({ entityId }) => {
        asked.push(entityId);
        return { eshopOrderId: `read ${entityId}` };
      },
    });
    const request = await fakeDelivery('CREATE_ORDER', { method: 'GET', entityId: '10/1 ž' });
    expect((await hooks(request)).status).toBe(200);
    expect(asked).toEqual(['10/1 ž']);
    expect(handled[0]).toMatchObject(['read 10/1 ž', { entityId: '10/1 ž', method: 'GET' }]);
  });

  it('a GET with the identifier in the query is read as well', async () => {
    const { hooks, handled } = setUp({ read: async ({ entityId }) => ({ eshopOrderId: entityId }) });
    const url = 'https://shop.example/hooks?a=b/c&order=';
    expect((await hooks(await fakeDelivery('CREATE_ORDER', { method: 'GET', url }))).status).toBe(200);
    expect(handled[0]?.[0]).toBe('2026-10001');
  });

  it('a GET without read gets 501', async () => {
    const { hooks } = setUp();
    const [status, text] = await said(await hooks(await fakeDelivery('CREATE_ORDER', { method: 'GET' })));
    expect([status, text]).toEqual([501, expect.stringContaining('give the receiver read')]);
  });

  it('a test is verified, and handled only on request', async () => {
    const { hooks, handled } = setUp();
    const test = () => fakeDelivery('CREATE_ORDER', { test: true });
    expect(await said(await hooks(await test()))).toEqual([
      200,
      expect.stringContaining('No handler was called'),
    ]);
    expect(handled).toEqual([]);
    const ofEvent = await fakeDelivery('CREATE_ORDER', { id: 'in the log', test: true });
    await hooks(ofEvent);
    expect(await hooks.store.handledOf(['in the log'])).toEqual(new Set(['in the log']));
    const eager = setUp({ tests: 'handle' });
    await eager.hooks(await test());
    expect(eager.handled[0]?.[1].test).toBe(true);
  });
});

describe('repeats', () => {
  it('a repeat is acknowledged, and dropped', async () => {
    const { hooks, handled } = setUp();
    const send = (attempt: number) => fakeDelivery('CREATE_ORDER', { id: 'same', attempt });
    await hooks(await send(1));
    expect(await said(await hooks(await send(2)))).toEqual([200, expect.stringContaining('repeat')]);
    expect(handled).toHaveLength(1);
  });

  it('two simultaneous requests are handled once, and the second is told to come again', async () => {
    const [finished, finish] = later();
    let runs = 0;
    const hooks = receiver({ secrets: testSecret, store: memoryStore() }).on('CREATE_ORDER', async () => {
      runs += 1;
      await finished;
    });
    const first = hooks(await fakeDelivery('CREATE_ORDER', { id: 'same' }));
    await until('the handler to run', async () => runs === 1);
    const second = await hooks(await fakeDelivery('CREATE_ORDER', { id: 'same', attempt: 2 }));
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '30']);
    finish();
    expect((await first).status).toBe(200);
    expect(runs).toBe(1);
  });

  it('a handler that throws gets the next attempt at once', async () => {
    let runs = 0;
    const problems: unknown[] = [];
    const hooks = receiver({
      secrets: testSecret,
      store: memoryStore(),
      onProblem: (problem) => problems.push(problem),
    }).on('CREATE_ORDER', () => {
      runs += 1;
      if (runs === 1) throw new Error('password=hunter2');
    });
    const first = await said(await hooks(await fakeDelivery('CREATE_ORDER', { id: 'same' })));
    // The sender does not see an application's error.
    expect(first).toEqual([500, 'The handler failed.']);
    expect(problems).toEqual([new Error('password=hunter2')]);
    expect((await hooks(await fakeDelivery('CREATE_ORDER', { id: 'same' }))).status).toBe(200);
    expect(runs).toBe(2);
  });

  it('a process that dies leaves a claim that expires', async () => {
    let now = Date.now();
    const store = memoryStore({ now: () => now });
    const options = { secrets: testSecret, store, leaseMs: 60_000 };
    let started = 0;
    const dying = receiver(options).on('CREATE_ORDER', () => {
      started += 1;
      return new Promise(() => {});
    });
    void dying(await fakeDelivery('CREATE_ORDER', { id: 'same' }));
    await until('the handler to begin', async () => started === 1);
    let handled = 0;
    const restarted = receiver(options).on('CREATE_ORDER', () => {
      handled += 1;
    });
    expect((await restarted(await fakeDelivery('CREATE_ORDER', { id: 'same' }))).status).toBe(503);
    now += 60_001;
    expect((await restarted(await fakeDelivery('CREATE_ORDER', { id: 'same' }))).status).toBe(200);
    expect(handled).toBe(1);
  });

  it('a handler that ends too late does not release the claim of another', async () => {
    let now = 0;
    const store = memoryStore({ now: () => now });
    expect(await store.claim('d', 'slow', 10)).toBe('claimed');
    now = 11;
    expect(await store.claim('d', 'next', 10)).toBe('claimed');
    await store.release('d', 'slow');
    expect(await store.claim('d', 'third', 10)).toBe('busy');
    await store.release('d', 'next');
    expect(await store.claim('d', 'third', 10)).toBe('claimed');
  });

  it('an unavailable store means 500, and nothing is handled', async () => {
    const away = async (): Promise<never> => {
      throw new Error('no store');
    };
    const store: Store = { claim: away, done: away, release: away, handledOf: away };
    const { hooks, handled } = setUp({ store });
    expect((await hooks(await fakeDelivery('CREATE_ORDER'))).status).toBe(500);
    expect(handled).toEqual([]);
  });

  it('the store in memory forgets old deliveries', async () => {
    let now = 0;
    const store = memoryStore({ keepMs: 100, now: () => now });
    await store.done('a');
    now = 60;
    await store.done('b');
    expect(await store.handledOf(['a', 'b', 'c'])).toEqual(new Set(['a', 'b']));
    now = 101;
    expect(await store.handledOf(['a', 'b', 'c'])).toEqual(new Set(['b']));
    expect(await store.claim('b', 'x', 1)).toBe('done');
  });
});

describe('deliberate responses', () => {
  const answering = (thrown: unknown) =>
    receiver({
      secrets: testSecret,
      store: memoryStore(),
      onProblem: (problem) => expect.unreachable(`reported: ${String(problem)}`),
    }).on('CREATE_ORDER', () => {
      throw thrown;
    });

  it('Gone means 410, and is remembered', async () => {
    const hooks = answering(new Gone('The shop has closed.'));
    expect(await said(await hooks(await fakeDelivery('CREATE_ORDER', { id: 'g' })))).toEqual([
      410,
      'The shop has closed.',
    ]);
    expect(await hooks.store.handledOf(['g'])).toEqual(new Set(['g']));
  });

  it('RetryLater means 503 with a valid Retry-After, and releases the delivery', async () => {
    const hooks = answering(new RetryLater(90.2, 'Being updated.'));
    const response = await hooks(await fakeDelivery('CREATE_ORDER', { id: 'r' }));
    expect(await said(response)).toEqual([503, 'Being updated.']);
    expect(parseRetryAfter(response.headers.get('retry-after') ?? undefined, 0)).toBe(91_000);
    expect(await hooks.store.claim('r', 'next', 1)).toBe('claimed');

    const at = new Date(1_800_000_000_000);
    const dated = await answering(new RetryLater(at))(await fakeDelivery('CREATE_ORDER'));
    expect(parseRetryAfter(dated.headers.get('retry-after') ?? undefined, at.getTime() - 5_000)).toBe(5_000);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, new Date('never')])(
    'RetryLater(%s) is a RangeError',
    (when) => {
      expect(() => new RetryLater(when)).toThrow(RangeError);
    },
  );
});

it('a failure is logged as a sentence, or as it was thrown', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  try {
    const failing = receiver({ secrets: testSecret, store: memoryStore() }).on('CREATE_ORDER', () => {
      throw new RangeError('too much tea');
    });
    await failing(await fakeDelivery('CREATE_ORDER'));
    await failing(await fakeDelivery('CREATE_PRODUCT'));
    expect(logged.mock.calls).toEqual([
      [new RangeError('too much tea')],
      [expect.stringContaining('There is no handler for CREATE_PRODUCT')],
    ]);
  } finally {
    logged.mockRestore();
  }
});

it('methods other than POST and GET get 405', async () => {
  const { hooks } = setUp();
  const response = await hooks(new Request('https://shop.example/hooks', { method: 'PUT', body: '{}' }));
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, GET']);
});

it('handlers are added to a copy', async () => {
  const { hooks } = setUp();
  const more = hooks.on('CREATE_PRODUCT', () => {});
  expect([hooks.handles('CREATE_PRODUCT'), more.handles('CREATE_PRODUCT')]).toEqual([false, true]);
  expect([hooks.handles('constructor'), more.otherwise(() => {}).handles('NEW_KIND')]).toEqual([false, true]);
});

it('a secret that belongs to a kind signs no other kind', async () => {
  const secrets = { CREATE_ORDER: testSecret, UPDATE_ORDER: [other] };
  const { hooks } = setUp({ secrets });
  const all = hooks.otherwise(() => {});
  expect((await all(await fakeDelivery('CREATE_ORDER'))).status).toBe(200);
  expect((await all(await fakeDelivery('UPDATE_ORDER', { secrets: other }))).status).toBe(200);
  expect(await said(await all(await fakeDelivery('UPDATE_ORDER')))).toEqual([
    401,
    expect.stringContaining('signed with the secret of CREATE_ORDER'),
  ]);
});

it('a function can be asked for secrets', async () => {
  const { hooks } = setUp({ secrets: async (kind) => (kind === 'CREATE_ORDER' ? [other] : undefined) });
  expect((await hooks(await fakeDelivery('CREATE_ORDER', { secrets: [testSecret, other] }))).status).toBe(
    200,
  );
  expect((await hooks(await fakeDelivery('CREATE_ORDER'))).status).toBe(401);
  expect((await hooks(await fakeDelivery('UPDATE_ORDER'))).status).toBe(500);
});

it('payloads are typed by kind and version', () => {
  const options = { secrets: testSecret, store: memoryStore() };
  receiver(options).on('CREATE_ORDER', (order, delivery) => {
    expectTypeOf(order.cashOnDelivery).toEqualTypeOf<string | null>();
    expectTypeOf(delivery.kind).toEqualTypeOf<'CREATE_ORDER'>();
  });
  const v21: Receiver<'v21'> = receiver({ ...options, payloadVersion: 'v21' });
  v21.on('CREATE_STOCK_MOVEMENT_RETURN', ({ count, type }) => {
    expectTypeOf(count).toEqualTypeOf<number>();
    expectTypeOf(type).toEqualTypeOf<'return'>();
  });
  v21.otherwise((record) => expectTypeOf(record).toEqualTypeOf<Payload<keyof KindTable, 'v21'>>());
  // @ts-expect-error no such kind
  expect(() => v21.on('DELETE_ORDER', () => {})).toThrow(TypeError);
});
type KindTable = typeof import('../../receiver/src/kinds.ts').kinds;
