/** What is signaled to Temporal besides deliveries: an e-shop with very much of it delays only itself. */
import { expect, test } from 'vitest';
import { claimNotices } from '../../../src/db/notices/pending.ts';
import { claimRecoveryChanges } from '../../../src/db/outbox/recovery-changes.ts';
import { insertShop } from '../../support/database/events.ts';
import { databaseOfFile, shopOfEachTest } from '../../support/lifetimes.ts';

const database = await databaseOfFile();
const { sql } = database;
const many = shopOfEachTest(database, 'recoveries', 'notices');

interface Shop {
  readonly eshopId: number;
  readonly webhookId: number;
}

const addRecoveries = ({ eshopId, webhookId }: Shop, count: number, age: string) => sql`
  insert into recoveries (id, eshop_id, webhook_id, since, until, include, found, exhausted, created_at)
  select gen_random_uuid(), ${eshopId}::int, ${webhookId}::int, now(), now(), '{missed}', 0, true, now() - ${age}::interval
  from generate_series(1, ${count}::int)`;
const addNotices = ({ eshopId, webhookId }: Shop, count: number, age: string) => sql`
  insert into notices (eshop_id, webhook_id, kind, recipient, check_at)
  select ${eshopId}::int, ${webhookId}::int, 'deactivated', 'url', now() - ${age}::interval
  from generate_series(1, ${count}::int)`;

test.each([
  ['recoveries', addRecoveries, claimRecoveryChanges],
  ['notices', addNotices, claimNotices],
] as const)('%s of an e-shop with very many delay no other e-shop', async (_, add, claim) => {
  const other = await insertShop(sql);
  await add(many, 1_000, '1 hour');
  await add(other, 2, '1 second');
  const ownersOf = async (limit: number) => (await claim(sql, limit)).map(({ eshopId }) => eshopId);
  const first = await ownersOf(4);
  expect(first).toHaveLength(4);
  expect(first.filter((eshopId) => eshopId === other.eshopId)).toHaveLength(2);
  // The claimed ones are left alone; the rest can be claimed.
  expect(await ownersOf(2_000)).toHaveLength(998);
  expect(await ownersOf(1)).toEqual([]);
});
