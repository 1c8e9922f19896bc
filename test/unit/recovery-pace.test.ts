/** How long a relay waits between two claims of what is recovered. */
import { expect, test } from 'vitest';
import { createRecoveryPace } from '../../src/relay/recovery-pace.ts';

const times = <T>(count: number, each: () => T): T[] => Array.from({ length: count }, each);

test('shortly while nobody feels it', () => {
  expect(times(3, createRecoveryPace(() => false).pauseMs)).toEqual([100, 100, 100]);
});

test('longer each time while fresh deliveries come late, up to a second, and shorter again afterwards', () => {
  let felt = true;
  const pace = createRecoveryPace(() => felt);
  expect(times(7, pace.pauseMs)).toEqual([150, 225, 338, 506, 759, 1_000, 1_000]);
  felt = false;
  expect(times(3, pace.pauseMs)).toEqual([850, 723, 614]);
  expect(times(15, pace.pauseMs).at(-1)).toBe(100);
});
