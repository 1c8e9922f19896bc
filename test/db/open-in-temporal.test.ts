/** The counts of open deliveries that a bulk action by filter is compared with. */
import { expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { countOpen } from '../../src/db/webhooks/open-in-temporal.ts';
import { fireDelivery } from '../support/deliveries.ts';
import { insertWebhook } from '../support/events.ts';
import { databaseOfFile } from '../support/lifetimes.ts';

const { sql } = await databaseOfFile();

test('open deliveries in the queue are counted apart from those that Temporal has', async () => {
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'orders@shop.example' });
  const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  const fire = (entityId: string) => fireDelivery(sql, { eshopId, webhookId, entityId });
  const dispatched = await fire('10001');
  await fire('10002');
  const ended = await fire('10003');
  await sql`update deliveries set dispatched_at = now() - interval '1 minute' where id = ${dispatched}`;
  await sql`update deliveries set state = 'canceled' where id = ${ended}`;
  expect(await countOpen(sql, { eshopId })).toEqual({ inTemporal: 1, queued: 1 });
  expect(await countOpen(sql, { eshopId, entityId: '10002' })).toEqual({ inTemporal: 0, queued: 1 });
  expect(await countOpen(sql, { webhookIds: [webhookId + 1] })).toEqual({ inTemporal: 0, queued: 0 });
});
