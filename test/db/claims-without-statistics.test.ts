/** A claim right after the first import: the planner has no statistics of the deliveries yet. */
import { expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { claimDeliveries } from '../../src/db/outbox/claim-deliveries.ts';
import { transaction } from '../../src/db/transaction.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertWebhook } from '../support/events.ts';

const WEBHOOKS = 50;
const OF_EACH = 100;

test('a claim without statistics reads a few rows for each that it takes, and not all that wait', async ({
  onTestFinished,
}) => {
  const { sql, drop } = await createTestDatabase();
  onTestFinished(drop);
  await sql`alter table deliveries set (autovacuum_enabled = false)`;
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
  for (let webhook = 0; webhook < WEBHOOKS; webhook += 1) {
    const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
    await sql`
      insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id)
      select gen_random_uuid(), gen_random_uuid(), ${eshopId}, ${webhookId}, 'CREATE_ORDER', n::text
      from generate_series(1, ${OF_EACH}::int) n`;
  }
  const { taken, read } = await transaction(sql, async (tx) => {
    const { deliveries } = await claimDeliveries(tx, { limit: 500 });
    const [rows] = await tx<{ read: number }[]>`
      select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = 'deliveries'`;
    return { taken: deliveries.length, read: rows?.read };
  });
  expect(taken).toBe(500);
  expect(read).toBeGreaterThan(taken);
  expect(read).toBeLessThan(3 * WEBHOOKS * OF_EACH);
});
