/** Time lost to outages, as it is stored. */
import { expect, test } from 'vitest';
import { lostTimeMs } from '../../../src/attempt/decisions.ts';
import { at, MINUTE, waiting } from './delivery.ts';

test('lost time is in whole milliseconds, whatever the clock of the claims says', () => {
  const due = { ...waiting, nextAttemptAt: at(0), generationAt: null };
  expect(lostTimeMs(due, at(MINUTE), 1_234.567_89)).toBe(MINUTE - 1_235);
});
