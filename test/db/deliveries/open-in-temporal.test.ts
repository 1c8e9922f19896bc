/** The open deliveries of a bulk action by filter. */
import { expect, test } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { findOpen } from '../../../src/db/deliveries/open-in-temporal.ts';
import { fireDelivery } from '../../support/database/deliveries.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const { sql } = await databaseOfFile();

test('every filter separates open deliveries in the queue from those in Temporal', async () => {
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'orders@shop.example' });
  const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  const fire = (entityId: string) => fireDelivery(sql, { eshopId, webhookId, entityId });
  const dispatched = await fire('10001');
  const first = await fire('10002');
  const second = await fire('10004');
  const ended = await fire('10003');
  await sql`update deliveries set dispatched_at = now() - interval '1 minute' where id = ${dispatched}`;
  await sql`update deliveries set state = 'canceled' where id = ${ended}`;
  expect(await findOpen(sql, { eshopId })).toEqual({ inTemporal: 1, queued: [second, first] });
  expect(await findOpen(sql, { eshopId, entityId: '10002' })).toEqual({ inTemporal: 0, queued: [first] });
  expect(await findOpen(sql, { webhookIds: [webhookId + 1] })).toEqual({ inTemporal: 0, queued: [] });
  await sql`update deliveries set state = 'retrying', created_at = now() - interval '1 hour' where id = ${first}`;
  await sql`update deliveries set operator_stop = 'hold' where id = ${second}`;
  const longAgo = new Date(Date.now() - 1_800_000);
  expect((await findOpen(sql, { eshopId, state: 'retrying' })).queued).toEqual([first]);
  expect((await findOpen(sql, { eshopId, state: 'held' })).queued).toEqual([second]);
  expect((await findOpen(sql, { eshopId, until: longAgo })).queued).toEqual([first]);
  expect((await findOpen(sql, { eshopId, since: longAgo })).queued).toEqual([second]);
});
