/** A webhook that is switched on and off. */
import { expect, test } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { deleteWebhook, setActive } from '../../../src/db/webhooks/change.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { databaseOfTest } from '../../support/lifetimes.ts';
import { until } from '../../support/until.ts';

test('only one of two simultaneous deactivations reports a change', async () => {
  const { sql } = await databaseOfTest();
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
  const id = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  const switched = async (active: boolean) => (await setActive(sql, eshopId, id, active))?.changed;
  const both: ReturnType<typeof switched>[] = [];
  await sql.begin(async (tx) => {
    await tx`select from webhooks where id = ${id} for update`;
    for (const _ of [1, 2]) both.push(switched(false));
    await until('both to wait', async () => {
      const waiting = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length === 2;
    });
  });
  expect((await Promise.all(both)).toSorted()).toEqual([false, true]);
  expect(await switched(true)).toBe(true);
  expect(await switched(true)).toBe(false);
  await deleteWebhook(sql, eshopId, id);
  expect(await switched(false)).toBeUndefined();
});
