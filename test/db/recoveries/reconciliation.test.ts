/** The recoveries that the reconciler examines. */
import { expect, test } from 'vitest';
import { claimLateRecoveries } from '../../../src/db/recoveries/reconciliation.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const { sql } = await databaseOfFile();

test('a grace period may have any number of milliseconds', async () => {
  for (const graceMs of [5_500, 6_500, 20_000])
    expect(await claimLateRecoveries(sql, graceMs, 10)).toEqual([]);
});
