/** A webhook that an operator switches. */
import { expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { switchWebhook } from '../../src/db/webhooks/all-webhooks.ts';
import { deleteWebhook } from '../../src/db/webhooks/change.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertWebhook } from '../support/events.ts';
import { until } from '../support/until.ts';

test('of two who deactivate it at the same moment one has changed something', async ({ onTestFinished }) => {
  const { sql, drop } = await createTestDatabase();
  onTestFinished(drop);
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
  const id = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  const both: Promise<boolean | null>[] = [];
  await sql.begin(async (tx) => {
    await tx`select from webhooks where id = ${id} for update`;
    for (const _ of [1, 2]) both.push(switchWebhook(sql, id, false));
    await until('both to wait', async () => {
      const waiting = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length === 2;
    });
  });
  expect((await Promise.all(both)).toSorted()).toEqual([false, true]);
  expect(await switchWebhook(sql, id, true)).toBe(true);
  expect(await switchWebhook(sql, id, true)).toBe(false);
  await deleteWebhook(sql, eshopId, id);
  expect(await switchWebhook(sql, id, false)).toBeNull();
});
