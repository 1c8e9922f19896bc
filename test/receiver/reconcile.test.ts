/** Reconciling with a log written by the test: what is fetched, what is skipped, where the next walk begins. */
import { describe, expect, it } from 'vitest';
import {
  type ListedDelivery,
  memoryStore,
  type ReceiverOptions,
  type ReconcileOptions,
  receiver,
  reconcile,
} from '../../receiver/src/index.ts';
import { testSecret } from '../../receiver/src/testing.ts';

const BEGINNING = '00000000-0000-0000-0000-000000000000';
const idOf = (at: number) => `019a0000-0000-7000-8000-${String(at).padStart(12, '0')}`;

interface Logged extends Partial<ListedDelivery> {
  readonly get?: boolean;
  readonly gone?: boolean;
  readonly test?: boolean;
}

/** A log of deliveries numbered from 1, read in pages of two. */
function logOf(...rows: readonly Logged[]) {
  const log = rows.map((row, index): ListedDelivery & Logged => ({
    id: idOf(index + 1),
    webhookId: 7,
    eventId: `event ${index + 1}`,
    webhookType: 'CREATE_ORDER',
    entityId: String(index + 1),
    sequence: 1,
    state: 'delivered',
    ...row,
  }));
  const asked: string[] = [];
  const api: ReconcileOptions['api'] = {
    async deliveries(after) {
      asked.push(after);
      const rest = log.filter(({ id }) => id > after);
      const deliveries = rest.slice(0, 2);
      return { deliveries, cursor: { after: deliveries.at(-1)?.id ?? after, more: rest.length > 2 } };
    },
    async delivery(id) {
      asked.push(`one ${id}`);
      return log.find((row) => row.id === id && row.gone !== true) ?? null;
    },
    async payload(id) {
      const row = log.find((each) => each.id === id);
      if (row === undefined || row.gone === true) return null;
      if (row.get === true) return { method: 'GET', body: null };
      const body = JSON.stringify({ eshopOrderId: row.entityId });
      return { method: 'POST', body, test: row.test };
    },
    read: async ({ entityId }) => ({ eshopOrderId: `read ${entityId}` }),
  };
  return { api, log, asked };
}

function setUp(options: Partial<ReceiverOptions> = {}) {
  const handled: string[] = [];
  const failing = new Set<string>();
  const hooks = receiver({ secrets: testSecret, store: memoryStore(), ...options }).on(
    'CREATE_ORDER',
    ({ eshopOrderId }) => {
      if (failing.has(eshopOrderId)) throw new Error(`no ${eshopOrderId}`);
      handled.push(eshopOrderId);
    },
  );
  return { hooks, handled, failing };
}

describe('missing deliveries', () => {
  it('a missing delivery is handled, and the next walk begins behind it', async () => {
    const { api, asked } = logOf({}, {}, {}, {}, {});
    const { hooks, handled } = setUp();
    for (const done of [1, 3]) await hooks.store.done(idOf(done));
    const first = await reconcile(hooks, { api });
    expect(handled).toEqual(['2', '4', '5']);
    expect(first).toMatchObject({ after: idOf(5), seen: 5, failed: [], open: 0 });
    expect(first.recovered.map(({ id }) => id)).toEqual([idOf(2), idOf(4), idOf(5)]);
    expect(asked[0]).toBe(BEGINNING);

    const second = await reconcile(hooks, { api, after: first.after });
    expect([second.seen, second.recovered, second.after]).toEqual([0, [], first.after]);
    const again = await reconcile(hooks, { api });
    expect([again.seen, again.recovered]).toEqual([5, []]);
  });

  it.each(['delivered', 'failed', 'expired', 'canceled'] as const)(
    'a missing delivery that is %s is handled',
    async (state) => {
      const { hooks, handled } = setUp();
      await reconcile(hooks, { api: logOf({ state }).api });
      expect(handled).toEqual(['1']);
    },
  );

  it.each(['pending', 'retrying', 'held'] as const)(
    'a missing delivery that is %s is left to the sender',
    async (state) => {
      const { hooks, handled } = setUp();
      const { api } = logOf({}, { state }, {});
      // The next walk begins before it: it may still be lost.
      expect(await reconcile(hooks, { api })).toMatchObject({ open: 1, after: idOf(1) });
      expect(handled).toEqual(['1', '3']);
    },
  );

  it('origin and changed fields are passed on, if the sender gives them', async () => {
    const seen: unknown[] = [];
    const hooks = receiver({ secrets: testSecret, store: memoryStore() }).otherwise(
      (_, { origin, changed }) => seen.push([origin, changed]),
    );
    const later = { origin: 'someone', changed: null };
    const { api } = logOf({ origin: 'shop', changed: 'note,paid' }, later, {});
    await reconcile(hooks, { api });
    expect(seen).toEqual([
      ['shop', ['note', 'paid']],
      [null, null],
      [null, null],
    ]);
  });

  it('a superseded delivery is not missing', async () => {
    const { hooks, handled } = setUp();
    const { api } = logOf({ state: 'superseded' }, {});
    expect(await reconcile(hooks, { api })).toMatchObject({ open: 0, seen: 2, after: idOf(2) });
    expect(handled).toEqual(['2']);
  });

  it('a handled delivery is not missing, whatever its state', async () => {
    const { hooks } = setUp();
    await hooks.store.done(idOf(1));
    const result = await reconcile(hooks, { api: logOf({ state: 'retrying' }).api });
    expect(result).toMatchObject({ open: 0, after: idOf(1) });
  });

  it('a test event is not handled', async () => {
    const { hooks, handled } = setUp();
    const { api } = logOf({}, { test: true, state: 'failed' }, {});
    const { recovered, failed, after } = await reconcile(hooks, { api });
    expect(handled).toEqual(['1', '3']);
    expect([recovered.map(({ id }) => id), failed, after]).toEqual([[idOf(1), idOf(3)], [], idOf(3)]);
    expect(await hooks.store.handledOf([idOf(2)])).toEqual(new Set([idOf(2)]));
  });

  it('the record is read if the webhook uses GET', async () => {
    const { hooks, handled } = setUp();
    await reconcile(hooks, { api: logOf({ get: true }).api });
    expect(handled).toEqual(['read 1']);
  });

  it('an event with several deliveries is handled once, as the latest', async () => {
    const again = { eventId: 'the same' };
    const { hooks, handled } = setUp();
    // Failed, then redelivered; failed, then redelivered to another webhook.
    const { api } = logOf({ ...again, state: 'failed' }, {}, again, { ...again, webhookId: 8 });
    await hooks.store.done(idOf(3));
    const { recovered } = await reconcile(hooks, { api });
    expect(recovered.map(({ id }) => id)).toEqual([idOf(2), idOf(4)]);
    expect(handled).toEqual(['2', '4']);
  });
});

describe('failures', () => {
  it('a failure is reported, holds up nothing else, and is tried again the next time', async () => {
    const { hooks, handled, failing } = setUp();
    const { api } = logOf({}, {}, {});
    failing.add('2');
    const first = await reconcile(hooks, { api });
    expect(handled).toEqual(['1', '3']);
    expect(first.failed).toEqual([
      { delivery: expect.objectContaining({ id: idOf(2) }), problem: new Error('no 2') },
    ]);
    expect(first.after).toBe(idOf(1));
    failing.clear();
    expect(await reconcile(hooks, { api, after: first.after })).toMatchObject({ failed: [], after: idOf(3) });
    expect(handled).toEqual(['1', '3', '2']);
  });

  it('a delivery that is claimed, or whose webhook was deleted, is reported', async () => {
    const { hooks, handled } = setUp();
    await hooks.store.claim(idOf(1), 'somebody', 60_000);
    const { failed, after } = await reconcile(hooks, { api: logOf({}, { gone: true }, {}).api });
    expect(failed.map(({ problem }) => String(problem))).toEqual([
      expect.stringContaining('somebody else'),
      expect.stringContaining('no longer in the log'),
    ]);
    expect([handled, after]).toEqual([['3'], BEGINNING]);
  });
});

describe('unsettled deliveries, far from the end of the log', () => {
  const many = (...first: readonly Logged[]) => logOf(...first, ...Array.from({ length: 200 }, () => ({})));

  it('a delivery is asked for by itself later, without reading the log again', async () => {
    const { hooks, handled, failing } = setUp();
    const { api, log, asked } = many({}, {}, { state: 'retrying' });
    failing.add('2');
    const first = await reconcile(hooks, { api });
    expect(first.after).toBe([idOf(203), idOf(2), idOf(3)].join(','));
    for (const row of log) if (row.state === 'retrying') Object.assign(row, { state: 'failed' });
    asked.length = 0;
    const second = await reconcile(hooks, { api, after: first.after });
    expect(asked).toEqual([`one ${idOf(2)}`, `one ${idOf(3)}`, idOf(203)]);
    expect(second).toMatchObject({ seen: 2, open: 0, after: `${idOf(203)},${idOf(2)}` });
    expect(second.recovered.map(({ id }) => id)).toEqual([idOf(3)]);
    failing.clear();
    const third = await reconcile(hooks, { api, after: second.after });
    expect(third).toMatchObject({ failed: [], after: idOf(203) });
    expect(handled.slice(-2)).toEqual(['3', '2']);
  });

  it('a delivery is settled once it is handled or redelivered, or its webhook is deleted', async () => {
    const { hooks, handled, failing } = setUp();
    const { api, log, asked } = many({ eventId: 'the same' }, { state: 'held' }, { state: 'held' });
    failing.add('1');
    const { after } = await reconcile(hooks, { api });
    expect(after.split(',')).toHaveLength(4);
    await hooks.store.done(idOf(2));
    Object.assign(log[2] ?? {}, { gone: true });
    log.push({ ...(log[0] as ListedDelivery), id: idOf(204), entityId: '204' });
    asked.length = 0;
    const next = await reconcile(hooks, { api, after });
    expect(asked).not.toContain(`one ${idOf(2)}`);
    expect(next).toMatchObject({ failed: [], open: 0, after: idOf(204) });
    expect(handled).toContain('204');
    expect(handled).not.toContain('1');
  });

  it('a delivery can be ignored by its id', async () => {
    const { hooks, failing } = setUp();
    const { api } = many({}, {});
    failing.add('2');
    const { after } = await reconcile(hooks, { api });
    const ignore = [idOf(2)];
    expect(await reconcile(hooks, { api, after, ignore })).toMatchObject({ failed: [], after: idOf(202) });
    expect(await reconcile(hooks, { api, ignore })).toMatchObject({ failed: [], after: idOf(202) });
  });

  it('more than a hundred deliveries are read again with the log, and none is forgotten', async () => {
    const { hooks } = setUp();
    const { api } = many(...Array.from({ length: 150 }, () => ({ state: 'held' as const })));
    const { after, open } = await reconcile(hooks, { api });
    const [position, ...ids] = after.split(',');
    expect([open, ids.length, position]).toEqual([150, 100, idOf(100)]);
    expect((await reconcile(hooks, { api, after })).open).toBe(150);
  });
});

describe('other receivers', () => {
  it('other webhooks, and kinds without a handler, are skipped', async () => {
    const { hooks, handled } = setUp();
    const { api } = logOf({ webhookId: 8 }, {}, { webhookType: 'CREATE_PRODUCT' });
    const result = await reconcile(hooks, { api, webhooks: [7] });
    expect([handled, result.seen, result.after]).toEqual([['2'], 1, idOf(3)]);
  });
});

it('reconciling ends on request, before the next delivery', async () => {
  const { hooks } = setUp();
  const controller = new AbortController();
  controller.abort(new Error('Stopped.'));
  await expect(reconcile(hooks, { api: logOf({}).api, signal: controller.signal })).rejects.toThrow(
    'Stopped.',
  );
});
