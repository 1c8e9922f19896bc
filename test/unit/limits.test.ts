/** How many attempts may be under way at once: a slow receiver fills only its own limit. */
import { describe, expect, test } from 'vitest';
import {
  createLimits,
  type Destination,
  type MadeRequest,
  type Permit,
} from '../../src/concurrency/limits.ts';
import { type SchedulerOptions, schedulerDefaults, settingsFor } from '../../src/concurrency/settings.ts';

const taken: MadeRequest = { accepted: true, ms: 1 };

function make(some: Partial<SchedulerOptions> = {}) {
  let at = 1_000_000;
  const options = { ...schedulerDefaults, claimAheadMs: 5, ...some };
  const limits = createLimits(options, () => at);
  const to = (webhookId: number, eshopId = 1, host = `shop${webhookId}.example`): Destination => ({
    eshopId,
    webhookId,
    receiverHost: host,
  });
  async function permits(destination: Destination, asked: number): Promise<Permit[]> {
    const answers = await Promise.all(Array.from({ length: asked }, () => limits.acquire(destination)));
    return answers.flatMap((answer) => (answer !== undefined && 'release' in answer ? [answer] : []));
  }
  /** Attempts that all end after this time. */
  async function attempts(destination: Destination, count: number, ms: number, accepted: boolean) {
    const made = await permits(destination, count);
    at += ms;
    for (const permit of made) permit.release({ accepted, ms });
    return made.length;
  }
  function pass(ms: number): void {
    at += ms;
  }
  return { limits, options, to, permits, attempts, pass };
}

test('an unknown webhook gets the first limit', async () => {
  const { to, permits, options } = make();
  expect(await permits(to(1), 50)).toHaveLength(options.firstLimit);
});

test('the limit rises while a webhook accepts, and falls to one while it hangs', async () => {
  const { to, permits, attempts } = make();
  for (let round = 0; round < 4; round += 1) await attempts(to(1), 20, 10, true);
  expect((await permits(to(1), 100)).length).toBe(100);
  for (let round = 0; round < 8; round += 1) await attempts(to(2, 2), 1, 5_000, false);
  expect(await permits(to(2, 2), 5)).toHaveLength(1);
});

test('a slow webhook gets no more than the first limit, however high its limit was', async () => {
  const { to, permits, attempts, options } = make();
  for (let round = 0; round < 4; round += 1) await attempts(to(1), 20, 10, true);
  expect(await attempts(to(1), 100, 14_000, true)).toBe(100);
  expect(await permits(to(1), 100)).toHaveLength(options.firstLimit);
  for (let round = 0; round < 2; round += 1) await attempts(to(2, 2), 20, 14_000, true);
  expect(await permits(to(2, 2), 100)).toHaveLength(options.firstLimit);
  // One that has hung gets its first limit back.
  await attempts(to(3, 3), 1, 5_000, false);
  for (let round = 0; round < 2; round += 1) await attempts(to(3, 3), 10, 3_000, true);
  expect(await permits(to(3, 3), 100)).toHaveLength(options.firstLimit);
});

test('a webhook hangs if its attempts time out, however short the time-out is', async () => {
  const { to, permits, attempts, options } = make(settingsFor(1_000));
  await attempts(to(1), 1, 1_000, false);
  expect(await permits(to(1), 50)).toHaveLength(options.firstLimit / 2);
  expect(settingsFor(15_000)).toEqual(schedulerDefaults);
});

test('a prompt webhook does not hang because our own database is slow', async () => {
  const { to, permits, pass, options } = make();
  for (let round = 0; round < 8; round += 1) {
    const held = await permits(to(1), 5);
    pass(10_000);
    for (const permit of held) permit.release({ accepted: false, ms: 10 });
  }
  expect(await permits(to(1), 50)).toHaveLength(options.firstLimit);
});

test('a webhook that fails quickly keeps its limit', async () => {
  const { to, permits, attempts, options } = make();
  for (let round = 0; round < 8; round += 1) await attempts(to(1), 5, 10, false);
  expect(await permits(to(1), 50)).toHaveLength(options.firstLimit);
});

test('a hanging webhook takes nothing from others of its e-shop or host', async () => {
  const { to, permits } = make();
  await permits(to(1), 20);
  expect(await permits(to(2), 1)).toHaveLength(1);
  const onOneHost = make({ attempts: 40 });
  await onOneHost.permits(to(1, 1, 'one.example'), 20);
  expect(await onOneHost.permits(to(2, 2, 'one.example'), 1)).toHaveLength(1);
});

test('hanging webhooks take at most half of all places, whatever their e-shops', async () => {
  const { to, permits, attempts, options } = make();
  const ids = Array.from({ length: 2 * options.attempts }, (_, index) => index + 1);
  for (const id of ids) await attempts(to(id, id), 1, 5_000, false);
  const held = await Promise.all(ids.map((id) => permits(to(id, id), 1)));
  expect(held.flat()).toHaveLength(options.attempts / 2);
  expect(await permits(to(1_000, 1_000), 20)).toHaveLength(20);
  // Each place that becomes free is taken again.
  for (const permit of held.flat()) permit.release({ accepted: false, ms: 1 });
  const again = await Promise.all(ids.map((id) => permits(to(id, id), 1)));
  expect(again.flat()).toHaveLength(options.attempts / 2);
});

test('a webhook that hangs, recovers and hangs again counts with all its open attempts, or none', async () => {
  const { limits, to, permits, pass, options } = make();
  const half = options.attempts / 2;
  const hung: MadeRequest = { accepted: false, ms: options.hungMs };
  const others = Array.from({ length: half + 30 }, (_, index) => to(index + 2, index + 2));
  for (const other of others) for (const permit of await permits(other, 1)) permit.release(hung);
  /** How many places those that hang have now. */
  async function places(): Promise<number> {
    const held = (await Promise.all(others.map((other) => permits(other, 1)))).flat();
    for (const permit of held) permit.release({ accepted: false, ms: 1 });
    // Those that found none are left alone for a while.
    pass(60_000);
    return held.length;
  }
  const open = await permits(to(1), options.firstLimit);
  for (let round = 0; round < 3; round += 1) {
    expect(await places()).toBe(half);
    open.pop()?.release(hung);
    expect(open.length).toBeGreaterThan(5);
    expect(await places()).toBe(half - open.length);
    expect(limits.hanging()).toBe(open.length);
    for (let accepted = 0; accepted < options.firstLimit / 2; accepted += 1) {
      open.shift()?.release(taken);
      open.push(...(await permits(to(1), 1)));
    }
  }
  for (const permit of open) permit.release(null);
  expect(await places()).toBe(half);
});

test('beyond its first attempt a webhook shares the limit of its host', async () => {
  const { to, permits } = make({ attempts: 40 });
  await permits(to(1, 1, 'one.example'), 20);
  await permits(to(2, 2, 'one.example'), 1);
  expect(await permits(to(2, 2, 'one.example'), 1)).toHaveLength(0);
});

test('webhooks share the limit of their host even if hundreds ask at once', async () => {
  const { to, permits, options } = make();
  const webhooks = Array.from({ length: 20 }, (_, index) => to(index, index, 'one.example'));
  const held = (await Promise.all(webhooks.map((each) => permits(each, 20)))).flat();
  // The first attempt of a webhook is never held back.
  expect(held.length).toBeGreaterThanOrEqual(options.attempts / 2);
  expect(held.length).toBeLessThanOrEqual(options.attempts / 2 + webhooks.length);
  for (const permit of held) permit.release(null);
  expect(await permits(to(50, 50, 'one.example'), 20)).toHaveLength(20);
});

test('another e-shop’s webhook gets its part of a full host as attempts end', async () => {
  const { to, permits, attempts, options } = make();
  const [slow, neighbor] = [to(1, 1, 'one.example'), to(2, 2, 'one.example')];
  for (let round = 0; round < 4; round += 1) await attempts(slow, 20, 1_000, true);
  const held = await permits(slow, 200);
  expect(held).toHaveLength(options.attempts / 2);
  expect(await permits(neighbor, 20)).toHaveLength(1);
  for (const permit of held.splice(0, 20)) permit.release(taken);
  // What has become free is not taken again by the first.
  expect(await permits(slow, 20)).toHaveLength(0);
  expect(await permits(neighbor, 20)).toHaveLength(9);
});

test('a prompt webhook may have many attempts waiting, even if it fills its host’s limit', async () => {
  const { limits, to, permits, attempts, options } = make({ claimAheadMs: 500 });
  for (let round = 0; round < 30; round += 1) await attempts(to(1), 20, 10, true);
  await permits(to(1), options.attempts / 2);
  void limits.acquire(to(1));
  expect(limits.open()).toBe(options.attempts / 2 + 1);
});

test('a webhook that moves to another host is unknown there, whatever ends at the former one', async () => {
  const { limits, to, permits, attempts, options } = make();
  for (let round = 0; round < 8; round += 1) await attempts(to(1), 1, 5_000, false);
  const [former] = await permits(to(1), 1);
  former?.lookupsFull();
  const moved = await permits(to(1, 1, 'new.example'), 50);
  expect(moved).toHaveLength(options.firstLimit - 1);
  former?.release({ accepted: false, ms: 5_000 });
  for (const permit of moved) permit.release(null);
  expect(await permits(to(1, 1, 'new.example'), 50)).toHaveLength(options.firstLimit);
  expect(limits.open()).toBe(options.firstLimit);
});

test('a webhook with too many lookups gets no permit for a while', async () => {
  const { limits, to, permits, pass, options } = make();
  const [permit] = await permits(to(1), 1);
  const closed = { ms: options.hungMs, ofReceiver: false };
  expect(permit?.lookupsFull()).toEqual(closed);
  permit?.release(null);
  expect(await limits.acquire(to(1))).toEqual(closed);
  expect(limits.quotas(1).webhooks.get(1)).toBe(0);
  pass(options.hungMs + 1);
  expect(await permits(to(1), 1)).toHaveLength(1);
});

test('an e-shop takes half of the free places, and the next one half of the rest', async () => {
  const { to, permits } = make({ attempts: 40, firstLimit: 100 });
  const held = [];
  for (const eshopId of [1, 2, 3]) held.push((await permits(to(eshopId, eshopId), 60)).length);
  expect(held).toEqual([20, 10, 5]);
});

test('a denied permit says whether the limit of the receiver or its host is full', async () => {
  const { limits, to, permits, options } = make({ attempts: 40, claimAheadMs: 0 });
  const alone = make();
  await alone.permits(alone.to(1), 20);
  expect(await alone.limits.acquire(alone.to(1))).toMatchObject({ ofReceiver: true });
  await permits(to(1, 1, 'one.example'), 20);
  expect(await permits(to(2, 2, 'one.example'), 1)).toHaveLength(1);
  expect(await limits.acquire(to(2, 2, 'one.example'))).toMatchObject({ ofReceiver: true });
  expect(await limits.acquire(to(3, 1))).toMatchObject({ ofReceiver: false });
  const hanging = make();
  const ids = Array.from({ length: options.attempts * 5 }, (_, index) => index + 1);
  for (const id of ids) await hanging.attempts(hanging.to(id, id), 1, 5_000, false);
  const answers = await Promise.all(ids.map((id) => hanging.limits.acquire(hanging.to(id, id))));
  expect(answers.at(-1)).toMatchObject({ ofReceiver: false });
});

test('an e-shop with one delivery does not wait behind another with hundreds', async () => {
  const { limits, to, permits } = make({
    attempts: 3,
    firstLimit: 100,
    claimAheadMs: 60_000,
  });
  const first = [
    ...(await permits(to(1), 1)),
    ...(await permits(to(3, 3), 1)),
    ...(await permits(to(4, 4), 1)),
  ];
  const order: string[] = [];
  const ask = async (destination: Destination, name: string) => {
    const permit = await limits.acquire(destination);
    order.push(name);
    if (permit !== undefined && 'release' in permit) permit.release(taken);
  };
  const asked = [ask(to(1), 'many'), ask(to(1), 'many'), ask(to(1), 'many'), ask(to(2, 2), 'one')];
  for (const permit of first) permit.release(taken);
  await Promise.all(asked);
  expect(order.indexOf('one')).toBeLessThan(2);
});

test('a denied permit returns a growing retry delay while no place becomes free', async () => {
  const { limits, to, permits, pass } = make();
  await permits(to(1), 20);
  pass(60_000);
  const waitMs = async () => {
    const wait = await limits.acquire(to(1));
    expect(wait).toMatchObject({ ofReceiver: true });
    return wait !== undefined && 'ms' in wait ? wait.ms : Number.NaN;
  };
  const [soon, later] = [await waitMs(), await waitMs()];
  expect(soon).toBeGreaterThan(20_000);
  pass(600_000);
  expect(await waitMs()).toBe(300_000);
  expect(later).toBeGreaterThanOrEqual(soon);
});

test('a caller without a permit waits for a prompt receiver, and begins once a place is free', async () => {
  const { limits, to, permits, attempts } = make({ claimAheadMs: 60_000 });
  for (let round = 0; round < 20; round += 1) await attempts(to(1), 1, 5, false);
  const held = await permits(to(1), 20);
  const waiting = limits.acquire(to(1));
  expect(limits.open()).toBe(21);
  held[0]?.release(taken);
  expect(await waiting).toMatchObject({ release: expect.any(Function) });
});

test('a waiting caller gives up once the webhook hangs, without closing its e-shop', async () => {
  const { limits, to, permits, attempts } = make({ claimAheadMs: 20 });
  for (let round = 0; round < 30; round += 1) await attempts(to(1), 1, 5, false);
  // Another webhook of the e-shop takes long, so that each caller sent away would delay the next for as long.
  await attempts(to(2), 20, 1_900, true);
  await permits(to(1), 20);
  const answers = await Promise.all(Array.from({ length: 10 }, () => limits.acquire(to(1))));
  expect(answers).toEqual(Array.from({ length: 10 }, () => ({ ms: expect.any(Number), ofReceiver: true })));
  expect(limits.quotas(1).eshops.get(1)).toBe(80);
});

test('an aborted caller holds no place', async () => {
  const { limits, to, permits, attempts } = make({ claimAheadMs: 60_000 });
  for (let round = 0; round < 20; round += 1) await attempts(to(1), 1, 5, false);
  const held = await permits(to(1), 20);
  const stop = new AbortController();
  const waiting = limits.acquire(to(1), stop.signal);
  stop.abort();
  expect(await waiting).toBeUndefined();
  for (const permit of held) permit.release(taken);
  expect(limits.open()).toBe(0);
  expect(await permits(to(1), 1)).toHaveLength(1);
});

describe('quotas', () => {
  test('a prompt webhook’s quota is what begins within a moment, less the open attempts', async () => {
    const { limits, to, permits, attempts } = make({ claimAheadMs: 500 });
    for (let round = 0; round < 30; round += 1) await attempts(to(1), 20, 10, true);
    const before = limits.quotas(1).webhooks.get(1) ?? 0;
    expect(before).toBeGreaterThan(1_000);
    await permits(to(1), 10);
    expect(limits.quotas(1).webhooks.get(1)).toBe(before - 10);
  });

  test('a slow webhook’s quota is its free places, and 0 without any', async () => {
    const { limits, to, permits, pass } = make({ claimAheadMs: 500 });
    await permits(to(1), 15);
    pass(3_000);
    expect(limits.quotas(1).webhooks.get(1)).toBe(5);
    await permits(to(1), 5);
    expect(limits.quotas(1).webhooks.get(1)).toBe(0);
  });

  test('a share of a webhook bounds its open attempts', async () => {
    const { limits, to, permits, options } = make({ claimAheadMs: 500 });
    const half = options.firstLimit / 2;
    expect(limits.quotas(0.5).webhook).toBe(half);
    await permits(to(1), half - 1);
    expect(limits.quotas(0.5).webhooks.get(1)).toBe(1);
    await permits(to(1), 1);
    expect(limits.quotas(0.5).webhooks.get(1)).toBe(0);
    expect(limits.quotas(1).webhooks.get(1)).toBe(half);
  });

  test.each([
    ['accepts', true],
    ['fails quickly', false],
  ])('a webhook that %s has a quota again, however many were denied before', async (_, accepted) => {
    const { limits, to, permits } = make({ claimAheadMs: 5 });
    const held = await permits(to(1), 200);
    expect(limits.quotas(1).webhooks.get(1)).toBe(0);
    for (const permit of held) permit.release({ accepted, ms: 1 });
    expect(limits.quotas(1).webhooks.get(1)).toBeGreaterThan(0);
  });

  test('an unknown webhook has the first limit as its quota', () => {
    const { limits, options } = make({ claimAheadMs: 500 });
    expect(limits.quotas(1)).toEqual({
      eshop: 100,
      webhook: options.firstLimit,
      eshops: new Map(),
      webhooks: new Map(),
    });
  });
});
