/** An export of an e-shop, by the database. */
import { expect, test } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { exportEshop } from '../../../src/db/maintenance/eshop-export.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { databaseOfTest } from '../../support/lifetimes.ts';

test('an export contains the state at its start, and no later changes', async () => {
  const { sql } = await databaseOfTest();
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
  const before = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  const webhooks: object[] = [];
  await exportEshop(sql, eshopId, async (rows) => {
    if (rows.some(({ kind }) => kind === 'eshop')) await insertWebhook(sql, eshopId, 'UPDATE_ORDER');
    webhooks.push(...rows.filter(({ kind }) => kind === 'webhook').map(({ data }) => data));
  });
  expect(webhooks).toEqual([expect.objectContaining({ id: before })]);
});
