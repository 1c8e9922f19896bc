/** When first attempts are made in batches. */
import { expect, test } from 'vitest';
import { createLane } from '../../src/relay/lane.ts';

const rush = { waitedMs: 1_001, more: true, many: false, late: false, keptMs: 0 };

test('in a calm each delivery has its own workflow', () => {
  const lane = createLane('auto');
  lane.claimed({ waitedMs: 1_000, more: true, many: false, late: false, keptMs: 1_000 });
  expect(lane.now()).toBe('each');
});

test('a few that have waited for us, and that one claim takes, are no rush', () => {
  const lane = createLane('auto');
  lane.claimed({ waitedMs: 60_000, more: false, many: false, late: false, keptMs: 0 });
  expect(lane.now()).toBe('each');
});

test('a rush begins once something has waited for more than a second, and ends when little has come in for two', () => {
  let at = 0;
  const lane = createLane('auto', () => at);
  lane.claimed(rush);
  expect(lane.now()).toBe('batch');
  for (const deliveries of [500, 7, 8, 7, 0, 0]) {
    lane.batched(deliveries, 0);
    at += 300;
  }
  expect(lane.now()).toBe('batch');
  at = 2_000;
  lane.batched(0, 0);
  expect(lane.now()).toBe('each');
});

test('it lasts while more comes in than workflows of their own make with ease, however few at a time', () => {
  let at = 0;
  const lane = createLane('auto', () => at);
  lane.claimed(rush);
  for (; at < 60_000; at += 100) lane.batched(2, 0);
  expect(lane.now()).toBe('batch');
  expect(lane.rushing()).toBe(false);
  for (; at < 62_500; at += 100) lane.batched(1, 0);
  expect(lane.now()).toBe('each');
});

test('a rush begins at once where more waits than the workers begin within half a second', () => {
  const lane = createLane('auto');
  lane.claimed({ waitedMs: 10, more: true, many: true, late: false, keptMs: 0 });
  expect(lane.now()).toBe('batch');
});

test('a rush begins where workers have been late for more than a second, though nothing is kept back', () => {
  let at = 0;
  const lane = createLane('auto', () => at);
  const claim = (late: boolean) => lane.claimed({ waitedMs: 10, more: false, many: false, late, keptMs: 0 });
  claim(true);
  at = 900;
  claim(false);
  claim(true);
  at = 1_900;
  claim(true);
  expect(lane.now()).toBe('each');
  at = 1_901;
  claim(true);
  expect(lane.now()).toBe('batch');
});

const keptBack = { waitedMs: 0, more: false, many: false, late: false, keptMs: 1_001 };

test('what waits for places at its own receiver is a rush too, as long as places become free there', () => {
  const lane = createLane('auto');
  lane.claimed(keptBack);
  expect(lane.now()).toBe('batch');
  for (let count = 0; count < 5; count += 1) lane.batched(0, 1_001);
  expect(lane.now()).toBe('batch');
  lane.batched(7, 0);
  lane.batched(7, 0);
  expect(lane.now()).toBe('each');
});

test('a receiver that answers nothing is no rush: batches are tried once in five seconds', () => {
  let at = 0;
  const lane = createLane('auto', () => at);
  const tried = () => {
    lane.claimed(keptBack);
    const trying = lane.now() === 'batch';
    lane.batched(0, 0);
    lane.batched(0, 0);
    return trying;
  };
  expect(tried()).toBe(true);
  at = 4_999;
  expect(tried()).toBe(false);
  at = 5_000;
  expect(tried()).toBe(true);
  // A rush of others is seen at once.
  lane.claimed(rush);
  expect(lane.now()).toBe('batch');
});

test('what is set stays, whatever waits', () => {
  const [each, batch] = [createLane('each'), createLane('batch')];
  each.claimed(rush);
  for (let count = 0; count < 3; count += 1) batch.batched(0, 0);
  expect([each.now(), batch.now()]).toEqual(['each', 'batch']);
});

test('what was handed back waits only while there is a rush, in every setting', () => {
  const lane = createLane('batch');
  expect(lane.rushing()).toBe(false);
  lane.batched(500, 0);
  expect(lane.rushing()).toBe(true);
  // What waits for its own receiver only needs nobody's haste.
  for (let count = 0; count < 2; count += 1) lane.batched(0, 60_000);
  expect(lane.rushing()).toBe(false);
});
