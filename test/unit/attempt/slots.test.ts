/** Slots for the requests of batches. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSlots } from '../../../src/attempt/slots.ts';

const never = new AbortController().signal;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('as many as are free, and no more than are wanted', async () => {
  const slots = createSlots(100);
  expect(await slots.take(64, never)).toBe(64);
  expect(await slots.take(64, never)).toBe(36);
  expect(slots.unclaimed()).toBe(0);
});

test('waits until enough are free to be worth a query', async () => {
  const slots = createSlots(100);
  await slots.take(100, never);
  let taken = 0;
  void slots.take(64, never).then((count) => {
    taken = count;
  });
  slots.release(31);
  await vi.advanceTimersByTimeAsync(1);
  expect(taken).toBe(0);
  slots.release(1);
  await vi.advanceTimersByTimeAsync(0);
  expect(taken).toBe(32);
});

test('does not wait for long: while receivers are slow, one slot is better than none', async () => {
  const slots = createSlots(100);
  await slots.take(100, never);
  const taken = slots.take(64, never);
  slots.release(1);
  await vi.advanceTimersByTimeAsync(50);
  expect(await taken).toBe(1);
});

test('who asked first is served first', async () => {
  const slots = createSlots(64);
  await slots.take(64, never);
  const order: string[] = [];
  void slots.take(64, never).then(() => order.push('first'));
  void slots.take(1, never).then(() => order.push('second'));
  slots.release(64);
  await vi.advanceTimersByTimeAsync(50);
  expect(order).toEqual(['first']);
  slots.release(1);
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(['first', 'second']);
});

test('who is told to stop takes none, and keeps nobody waiting', async () => {
  const slots = createSlots(64);
  await slots.take(64, never);
  const stop = new AbortController();
  const given = slots.take(64, stop.signal);
  const next = slots.take(1, never);
  stop.abort();
  expect(await given).toBe(0);
  slots.release(1);
  expect(await next).toBe(1);
  expect(await slots.take(1, stop.signal)).toBe(0);
});

test('what was promised to a batch is not claimed again, until it has begun here or elsewhere', async () => {
  const slots = createSlots(256);
  slots.promise('a', 100);
  slots.promise('b', 100);
  expect(slots.unclaimed()).toBe(231);
  slots.holds('a', 60);
  expect(slots.unclaimed()).toBe(236);
  slots.ends('a');
  expect(slots.unclaimed()).toBe(243);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(slots.unclaimed()).toBe(256);
});

test('while batches have enough left to begin there is nothing for another: it would be a small one', () => {
  const slots = createSlots(256);
  slots.promise('a', 200);
  slots.holds('b', 51);
  expect(slots.unclaimed()).toBe(0);
  slots.holds('b', 50);
  expect(slots.unclaimed()).toBe(224);
});

test('a batch has as many as are made within a third of a second, within bounds, and the next one comes at half of it', () => {
  let perSecond = Number.POSITIVE_INFINITY;
  const slots = createSlots(256, { ended: () => {}, perSecond: () => perSecond });
  expect(slots.batchSize()).toBe(500);
  perSecond = 300;
  expect(slots.batchSize()).toBe(100);
  slots.holds('a', 51);
  expect(slots.unclaimed()).toBe(0);
  slots.holds('a', 50);
  expect(slots.unclaimed()).toBe(249);
  perSecond = 1;
  expect(slots.batchSize()).toBe(64);
});

test('the rate is told of each attempt that ends, and whether any is left to begin', async () => {
  const told: boolean[] = [];
  const slots = createSlots(2, { ended: (idle) => void told.push(idle), perSecond: () => 1 });
  await slots.take(2, never);
  slots.holds('a', 1);
  slots.ended();
  slots.ends('a');
  slots.ended();
  expect(told).toEqual([false, true]);
  expect(await slots.take(2, never)).toBe(2);
  slots.release(2);
  expect(told).toHaveLength(2);
});

test('a few are for newcomers, unless something was claimed a moment ago, or hardly any are free', async () => {
  let now = 0;
  const slots = createSlots(32, undefined, () => now);
  expect(slots.forNewcomers()).toBe(16);
  expect(slots.forNewcomers()).toBe(0);
  now = 150;
  slots.promise('a', 1);
  expect(slots.forNewcomers()).toBe(0);
  now = 300;
  await slots.take(17, never);
  expect(slots.forNewcomers()).toBe(0);
  slots.release(1);
  expect(slots.forNewcomers()).toBe(16);
});

test('who has much in a batch is known until it ends, or is made elsewhere', async () => {
  const slots = createSlots(256);
  slots.promise('a', 100, [1, 2]);
  slots.promise('b', 100, [2, 3]);
  slots.holds('a', 60);
  expect([...slots.busyEshops()]).toEqual([1, 2, 3]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([...slots.busyEshops()]).toEqual([1, 2]);
  slots.ends('a');
  expect([...slots.busyEshops()]).toEqual([]);
});
