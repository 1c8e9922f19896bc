/** The demonstration: its day as data, its randomness, its receiver's signatures, its counts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planDay } from '../../demo/day.ts';
import { bar, progressLines } from '../../demo/progress.ts';
import { randomFrom } from '../../demo/random.ts';
import { type DemoReceiver, startReceiver } from '../../demo/receiver.ts';
import { sceneResults } from '../../demo/scene-results.ts';
import { type Call, firedBy, type Story, stepsOf } from '../../demo/steps.ts';
import { sscc } from '../../demo/stories/packing.ts';
import { closingMessage, countsOf, missing, summaryTable } from '../../demo/summary.ts';
import { type Open, untilDelivered, whyMissing } from '../../demo/waiting.ts';
import { type Attempt, fakeDelivery, testSecret } from '../../receiver/src/testing.ts';
import { eventTypeNames } from '../../src/domain/event-types.ts';
import { shippedCatalogue } from '../../src/domain/order/shipper-services.ts';
import { orderStatuses, orderTransitions } from '../../src/domain/order/status.ts';
import { isSscc } from '../../src/domain/sscc.ts';

const other = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const now = new Date('2026-11-20T08:00:00Z');
const day = (seed: string, orders: number, prefix = 'D1') =>
  planDay({ prefix, random: randomFrom(seed), shippers: shippedCatalogue }, orders);
const bodyOf = ({ body }: Call): object => (typeof body === 'function' ? body(now) : body);
/** The day as it would be sent. */
const sent = (seed: string, orders: number, prefix?: string) =>
  JSON.stringify(
    stepsOf(day(seed, orders, prefix)).map((step) =>
      'body' in step ? { ...step, body: bodyOf(step) } : step,
    ),
  );

describe('a day', () => {
  it('is the same from the same seed, and another one from another', () => {
    expect(sent('monday', 30)).toBe(sent('monday', 30));
    expect(sent('monday', 30)).not.toBe(sent('tuesday', 30));
  });

  it('differs between runs in nothing but the prefix of its identifiers', () => {
    expect(sent('monday', 30, 'D2').replaceAll('"D2-', '"D1-').replaceAll('/D2-', '/D1-')).toBe(
      sent('monday', 30, 'D1'),
    );
  });

  it.each([1, 2, 50])('of %i orders fires every kind of event', (orders) => {
    expect([...firedBy(stepsOf(day('any', orders))).keys()].sort()).toEqual([...eventTypeNames].sort());
  });

  it('moves orders along the table of statuses only', () => {
    for (const story of day('any', 40).flatMap(({ stories }) => stories)) {
      const way = orderWay(story);
      for (const [at, status] of way.entries()) {
        const before = way[at - 1];
        if (before !== undefined) expect(orderTransitions[before], way.join()).toContain(status);
      }
    }
  });
});

/** The statuses of an order in this story, in sequence. */
function orderWay(story: Story): (typeof orderStatuses)[number][] {
  const said = story.flatMap((step): unknown[] => {
    if ('untilStatus' in step) return [step.untilStatus];
    if (step.path === '/orders') return [Reflect.get(bodyOf(step), 'status') ?? 'preReceived'];
    if (step.path.startsWith('/orders/') && step.path.endsWith('/cancel')) return ['canceled'];
    if (step.path.startsWith('/orders/') && step.path.endsWith('/release')) return ['preReceived'];
    const isStatus = step.path.startsWith('/warehouse/orders/') && step.path.endsWith('/status');
    return isStatus ? [Reflect.get(bodyOf(step), 'status')] : [];
  });
  return said.map((status) => {
    const known = orderStatuses.find((name) => name === status);
    if (known === undefined) throw new Error(`${status} is no status`);
    return known;
  });
}

describe('chance', () => {
  it('stays inside its bounds and reaches both', () => {
    const random = randomFrom('dice');
    const thrown = Array.from({ length: 300 }, () => random.integer(1, 6));
    expect([...new Set(thrown)].sort()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('some: different ones, no more than there are', () => {
    const random = randomFrom('some');
    expect(new Set(random.some([1, 2, 3, 4], 3)).size).toBe(3);
    expect(random.some([1, 2], 5).sort()).toEqual([1, 2]);
    expect(() => random.pick([])).toThrow(RangeError);
  });
});

it('an SSCC has a valid check digit, whatever its serial', () => {
  for (const serial of [0, 1, 7, 42, 999_999_999]) expect(isSscc(sscc(serial)), sscc(serial)).toBe(true);
});

describe('the receiver', () => {
  let receiver: DemoReceiver;
  beforeAll(async () => {
    receiver = await startReceiver();
    receiver.trust(1, testSecret);
  });
  afterAll(() => receiver.close());

  const send = async (
    options: Pick<Partial<Attempt>, 'id' | 'attempt' | 'secrets' | 'at' | 'webhookId'> = {},
  ) => {
    const url = `${receiver.url}/CREATE_ORDER`;
    const request = await fakeDelivery('CREATE_ORDER', {
      webhookId: 1,
      ...options,
      payloadVersion: 'v21',
      url,
    });
    return (await fetch(request)).status;
  };

  it('counts each delivery of a webhook once, beside another secret too', async () => {
    expect(await send({ id: 'one' })).toBe(200);
    expect(await send({ id: 'one', attempt: 2 })).toBe(200);
    expect(await send({ id: 'two', secrets: [other, testSecret] })).toBe(200);
    expect([receiver.delivered(1), receiver.delivered(2)]).toEqual([2, 0]);
    expect(receiver.refused()).toBe(0);
  });

  it('refuses and counts what another secret signed, or long ago', async () => {
    expect(await send({ secrets: other })).toBe(401);
    expect(await send({ at: new Date(Date.now() - 301_000) })).toBe(401);
    expect(receiver.refused()).toBe(2);
    expect(receiver.delivered(1)).toBe(2);
  });

  it('turns away what a scene says, by attempt, and accepts the rest', async () => {
    receiver.trust(3, testSecret, (attempt) => (attempt === 1 ? { refuses: 503 } : {}));
    expect(await send({ webhookId: 3, id: 'three' })).toBe(503);
    expect([receiver.rejected(3), receiver.delivered(3)]).toEqual([1, 0]);
    expect(await send({ webhookId: 3, id: 'three', attempt: 2 })).toBe(200);
    expect([receiver.rejected(3), receiver.delivered(3)]).toEqual([1, 1]);
  });
});

it('the results name each scene with its counts, and how to take all away', () => {
  const counts = { delivered: 0, failed: 0, canceled: 0, held: 0 };
  const results = [
    { scene: 'down', webhookId: 9, title: 'it came back', ...counts, delivered: 2 },
    { scene: 'gone', webhookId: 10, title: 'it is gone', ...counts, failed: 1, canceled: 3 },
    { scene: 'slow', webhookId: 11, title: 'it is slow', ...counts },
  ] as const;
  const withOthers = (others: number) =>
    sceneResults({ url: 'http://127.0.0.1:8080/', dataDir: '/data/two' }, results, others);
  const text = withOthers(0);
  expect(text).toContain('http://127.0.0.1:8080/console:');
  expect(text).toContain('  webhook  9  it came back (2 delivered)');
  expect(text).toContain('  webhook 10  it is gone (1 failed, 3 given up)');
  expect(text).toContain('  webhook 11  it is slow (no deliveries)');
  expect(text).toContain("The demonstration's 4 webhooks are inactive now");
  expect(text).toContain(' DATA_DIR=/data/two npx --no waybill demo --clean removes them.');
  expect(text).not.toContain('other active');
  expect(withOthers(1)).toContain(
    "The e-shop's other active webhook got the demonstration's events as well.",
  );
  expect(withOthers(2)).toContain(
    "The e-shop's 2 other active webhooks got the demonstration's events as well.",
  );
});

describe('waiting for deliveries', () => {
  const wanted = new Map([['CREATE_ORDER', 3]] as const);
  const patience = { firstMs: 5, nextMs: 50 };
  /** @param come how many have arrived at each check; the last value repeats */
  const wait = (
    come: readonly number[],
    open: Open = { waiting: 0, lastError: null },
    { signal = new AbortController().signal, firstMs = patience.firstMs, nextMs = patience.nextMs } = {},
  ) => {
    const seen: (readonly [come: number, waiting: number])[] = [];
    const left = [...come];
    const count = async () => {
      const now = left.length > 1 ? left.shift() : left[0];
      return new Map([['CREATE_ORDER', now ?? 0]] as const);
    };
    const result = untilDelivered(wanted, count, {
      open: async () => open,
      patience: { firstMs, nextMs },
      everyMs: 10,
      signal,
      onCount: (total, waiting) => seen.push([total, waiting]),
    });
    return { seen, result };
  };
  const none = new Map([['CREATE_ORDER', 0]]);
  const some = new Map([['CREATE_ORDER', 2]]);
  const why = (open: Open, came: number) => whyMissing(open, { missing: 3 - came, came, patience });

  it('ends when everything has come', async () => {
    const { seen, result } = wait([1, 2, 3]);
    expect(await result).toEqual({ delivered: wanted, open: null });
    expect(seen.map(([come]) => come)).toEqual([1, 2, 3]);
  });

  it('ends soon when nothing was ever attempted: there is no worker', async () => {
    const open = { waiting: 3, lastError: null };
    const { seen, result } = wait([0], open);
    expect(await result).toEqual({ delivered: none, open });
    expect(seen.length).toBeLessThan(6);
    expect(why(open, 0)).toBe('3 deliveries have not arrived, and none was attempted: is a worker running?');
  });

  it('goes on when some have come and others wait for their first attempt: there is a backlog', async () => {
    const { seen, result } = wait(
      [1, 1, 1, 2, 2, 2, 3],
      { waiting: 2, lastError: null },
      // Longer than a busy machine delays a timer.
      { nextMs: 60_000 },
    );
    expect(await result).toEqual({ delivered: wanted, open: null });
    expect(seen.some(([, waiting]) => waiting === 2)).toBe(true);
    expect(seen.at(-1)).toEqual([3, 0]);
  });

  it('ends when a backlog does not move at all: the worker has stopped', async () => {
    const open = { waiting: 1, lastError: null };
    expect(await wait([2], open).result).toEqual({ delivered: some, open });
    expect(why(open, 2)).toBe(
      '1 delivery has not arrived: it waits for its first attempt, and none has come for 0.05 s. Has the worker stopped?',
    );
  });

  it('ends soon when the others were attempted and failed, with the error', async () => {
    const open = { waiting: 0, lastError: 'HTTP 503' };
    const { seen, result } = wait([2], open);
    expect(await result).toEqual({ delivered: some, open });
    expect(seen.length).toBeLessThan(6);
    expect(why(open, 2)).toBe('1 delivery has not arrived: HTTP 503.');
    expect(why({ waiting: 0, lastError: null }, 1)).toBe(
      '2 deliveries have not arrived: the delivery log gives no reason.',
    );
  });

  it('ends when it is told to', async () => {
    const controller = new AbortController();
    const { result } = wait([0], undefined, { signal: controller.signal, firstMs: 60_000 });
    controller.abort(new Error('Stopped.'));
    await expect(result).rejects.toThrow('Stopped.');
  });
});

describe('the counts', () => {
  const fired = new Map([
    ['CREATE_ORDER', 3],
    ['UPDATE_PRODUCT', 2],
  ] as const);
  const summary = { prefix: 'D1', seed: 's', requests: 5, seconds: 1.5, badSignatures: 0 };

  it('name every kind, and what is missing', () => {
    const kinds = countsOf(fired, new Map([['CREATE_ORDER', 2]]));
    expect(kinds.map(({ kind }) => kind)).toEqual(eventTypeNames);
    expect(missing(kinds)).toBe(3);
    const lines = summaryTable({ kinds }).split('\n');
    expect(lines).toHaveLength(eventTypeNames.length + 2);
    expect(lines[1]?.split(/\s+/)).toEqual(['CREATE_ORDER', '3', '2']);
    expect(lines.at(-1)?.split(/\s+/)).toEqual(['all', '5', '2']);
    expect(closingMessage({ ...summary, kinds })).toContain('fired 5 events, 3 not delivered.');
  });

  it('leave out what nobody counted', () => {
    const kinds = countsOf(fired, null);
    expect(missing(kinds)).toBe(0);
    expect(summaryTable({ kinds })).not.toContain('delivered');
    expect(closingMessage({ ...summary, kinds, badSignatures: null })).toContain('fired 5 events.');
  });

  it('say that every delivery was good only when it was', () => {
    const kinds = countsOf(fired, fired);
    expect(closingMessage({ ...summary, kinds })).toContain('all of them delivered with a valid signature');
    expect(closingMessage({ ...summary, kinds, badSignatures: 1 })).not.toContain('good signature');
  });
});

it('the bar is as full as the day', () => {
  expect([bar(0, 4, 4), bar(3, 4, 8), bar(4, 4, 4), bar(0, 0, 2)]).toEqual([
    '░░░░',
    '██████░░',
    '████',
    '██',
  ]);
});

it('without a terminal its progress is a line at once, and then one every few seconds', () => {
  const shown = (intervalMs: number) => {
    const lines: string[] = [];
    const progress = progressLines((line) => lines.push(line), intervalMs);
    for (let done = 1; done <= 10; done += 1) progress.show(done, 10, 'Deliveries arrive');
    return lines;
  };
  expect(shown(3_600_000)).toEqual([' 1/10  Deliveries arrive\n']);
  expect(shown(0)).toHaveLength(10);
});
