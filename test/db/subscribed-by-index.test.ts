/** An event finds its webhooks by one step of an index, however many webhooks there are and however many types they have. */
import { expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { fired, firedEvents, insertDeliveries } from '../../src/db/outbox/events.ts';
import { createWebhook } from '../../src/db/webhooks/create.ts';
import { eventTypeNames } from '../../src/domain/event-types.ts';
import { unhurried } from '../support/plans.ts';
import { testWebhook, unreadable } from '../support/test-webhook.ts';

/** Webhooks of other e-shops and of other types: enough for the planner to mind reading them all. */
const OTHERS = 20_000;

test('of one webhook with all types', async () => {
  const { sql, planner: plannerOf, drop } = await unhurried();
  try {
    const shop = { name: 'Shop', email: 'shop@example.test' };
    const [{ eshopId }, other] = [await createEshop(sql, shop), await createEshop(sql, shop)];
    const [webhookType, ...additionalTypes] = eventTypeNames;
    await createWebhook(sql, eshopId, testWebhook({ webhookType, additionalTypes }), unreadable, 1_000);
    await sql`
      insert into webhooks (eshop_id, url, webhook_type, method, active, payload_version, secret)
      select case when n % 200 = 0 then ${eshopId}::int else ${other.eshopId}::int end, 'https://shop.example/', 'CREATE_RETURN', 'POST',
        true, 'v2', '' from generate_series(1, ${OTHERS}::int) n`;
    for (const table of ['webhooks', 'webhook_types']) await sql`vacuum analyze ${sql(table)}`;
    const [type] = ['CREATE_ORDER'] as const;
    const event = {
      type,
      entityId: '1',
      sequence: 1,
      happenedAt: null,
      snapshot: '{}',
      origin: 'shop',
      changed: null,
    } as const;
    const { scanned, indexes, read } = await (await plannerOf()).planOf(sql`
      with fired as materialized (${fired(sql, firedEvents([event]))})
      ${insertDeliveries(sql, eshopId)}`);
    expect(scanned).toEqual([]);
    expect(indexes).toContain('webhook_types_subscribed');
    // At most the e-shop's own, and not those of others.
    expect(read).toBeLessThan(OTHERS / 40);
    expect(await sql`select from deliveries where eshop_id = ${eshopId}`).toHaveLength(1);
  } finally {
    await drop();
  }
});
