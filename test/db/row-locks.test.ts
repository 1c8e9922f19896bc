/** A lock on an e-shop or a webhook does not block rows that only refer to it. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { claimMail } from '../../src/db/notices/mail-budget.ts';
import { sealedNoticeSecrets } from '../../src/db/notices/secrets.ts';
import { type Transaction, transaction } from '../../src/db/transaction.ts';
import { sealedWebhooks } from '../../src/db/webhooks/secrets.ts';
import { lockWebhook } from '../../src/db/webhooks/webhooks.ts';
import { insertShop } from '../support/database/events.ts';
import { databaseOfFile } from '../support/lifetimes.ts';

const { sql } = await databaseOfFile();
const { eshopId, webhookId } = await insertShop(sql);
await sql`update eshops set notice_secret = '\\x00' where id = ${eshopId}`;

test('a mail takes its place in the budget during an import of its e-shop', async () => {
  const mail = { id: randomUUID(), eshopId, kind: 'warning', recipient: 'email', addressId: null } as const;
  await sql.begin(async (tx) => {
    await tx`insert into unchanged_writes (eshop_id, kind, entity_id, at) values (${eshopId}, 'order', '1', now())`;
    expect(await claimMail(sql, mail)).toEqual({ others: [] });
  });
});

test.each([
  ['a change to the webhook', (tx: Transaction) => lockWebhook(tx, eshopId, webhookId)],
  ['a new master key, for webhooks', (tx: Transaction) => sealedWebhooks.read(tx, 10, undefined)],
  [
    'a new master key, for the secrets of notices',
    (tx: Transaction) => sealedNoticeSecrets.read(tx, 10, undefined),
  ],
])('a notice is written during %s', async (_, lock) => {
  await transaction(sql, async (tx) => {
    await lock(tx);
    const { count } = await sql`
      insert into notices (eshop_id, webhook_id, kind, generation, recipient)
      values (${eshopId}, ${webhookId}, 'warning', 1, 'email')`;
    expect(count).toBe(1);
  });
});
