/** When first attempts are made in batches. */
import { expect, test } from 'vitest';
import { createLane } from '../../src/relay/lane.ts';

const rush = { waitedMs: 1_001, more: true };

test('in a calm each delivery has its own workflow', () => {
  const lane = createLane('auto');
  lane.claimed({ waitedMs: 1_000, more: true });
  expect(lane.now()).toBe('each');
});

test('a few that have waited for us, and that one claim takes, are no rush', () => {
  const lane = createLane('auto');
  lane.claimed({ waitedMs: 60_000, more: false });
  expect(lane.now()).toBe('each');
});

test('a rush begins once something has waited for more than a second, and ends when little comes in', () => {
  const lane = createLane('auto');
  lane.claimed(rush);
  expect(lane.now()).toBe('batch');
  for (const deliveries of [500, 7, 8, 7]) lane.batched(deliveries);
  expect(lane.now()).toBe('batch');
  lane.batched(0);
  expect(lane.now()).toBe('each');
});

test('what is set stays, whatever waits', () => {
  const [each, batch] = [createLane('each'), createLane('batch')];
  each.claimed(rush);
  for (let count = 0; count < 3; count += 1) batch.batched(0);
  expect([each.now(), batch.now()]).toEqual(['each', 'batch']);
});

test('what was handed back waits only while there is a rush, in every setting', () => {
  const lane = createLane('batch');
  expect(lane.rushing()).toBe(false);
  lane.batched(500);
  expect(lane.rushing()).toBe(true);
  for (let count = 0; count < 2; count += 1) lane.batched(0);
  expect(lane.rushing()).toBe(false);
});
