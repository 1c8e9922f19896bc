/** The recoveries that the reconciler examines. */
import { expect, test } from 'vitest';
import { claimLateRecoveries } from '../../src/db/recoveries/reconciliation.ts';
import { createTestDatabase } from '../support/database.ts';

test.each([5_500, 6_500, 20_000])(
  'a grace of %i ms is one: the attempts may have any time-out',
  async (graceMs) => {
    const { sql, drop } = await createTestDatabase();
    try {
      expect(await claimLateRecoveries(sql, graceMs, 10)).toEqual([]);
    } finally {
      await drop();
    }
  },
);
