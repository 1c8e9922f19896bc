/** URLs that accept a notice's request and never answer hold up nobody but their own e-shop. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { createNoticePlaces, MAX_NOTICES_AT_ONCE } from '../../activities/notice-places.ts';
import { createEshop } from '../../src/db/accounts/eshops.ts';
import { createSender } from '../../src/delivery/sender.ts';
import { createKeys } from '../../src/secrets/keys.ts';
import { setNoticeUrl } from '../support/api/notices.ts';
import { exhaustDelivery, fireDelivery } from '../support/database/deliveries.ts';
import { insertWebhook } from '../support/database/events.ts';
import { databaseOfFile } from '../support/lifetimes.ts';
import { noticeActivities, resultOrWait } from '../support/notice-activities.ts';
import { createReceiver } from '../support/servers/receiver.ts';

const keys = createKeys(Buffer.alloc(32, 7));

const { sql } = await databaseOfFile();

/** @returns the ids of the notices of a new e-shop whose webhooks were deactivated, to this URL */
async function pending(url: string, count: number): Promise<string[]> {
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'orders@shop.example' });
  await setNoticeUrl({ sql, keys }, eshopId, url);
  for (let index = 0; index < count; index += 1) {
    const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
    await exhaustDelivery(sql, await fireDelivery(sql, { eshopId, webhookId }));
  }
  const rows = await sql<
    { id: string }[]
  >`select id from notices where eshop_id = ${eshopId} and recipient = 'url'`;
  return rows.map(({ id }) => id);
}

test('six e-shops with silent URLs and many notices do not hold up the notice of a seventh', async () => {
  const silent = await createReceiver({ hang: 'headers' });
  const chat = await createReceiver();
  // As long as the test takes: none of them times out before its end.
  const sender = createSender({ timeoutMs: 600_000, allowCidrs: ['127.0.0.0/8'], version: '1' });
  const { deliverNotice } = noticeActivities({
    sql,
    mailer: { send: () => Promise.reject(new Error('nothing is mailed')) },
    sendNotice: sender.sendNotice,
    keys,
  });
  const tell = (id: string) =>
    resultOrWait(new MockActivityEnvironment().run((notice: string) => deliverNotice(notice), id));
  const eshops: string[][] = [];
  for (let index = 0; index < 6; index += 1) eshops.push(await pending(silent.url, 3));
  const sent = eshops.flat().map((id) => tell(id).catch((error: unknown) => error));
  await silent.waitFor(6);
  const [id = ''] = await pending(chat.url, 1);
  await expect(tell(id)).resolves.toEqual({ outcome: 'sent' });
  expect(silent.requests).toHaveLength(6);

  await silent.close();
  // Two of each e-shop were turned away.
  expect((await Promise.all(sent)).filter((result) => typeof result === 'number')).toHaveLength(12);
  await sender.close();
  await chat.close();
});

test('each e-shop has one place, and those without one ask again one after another', () => {
  let now = 0;
  const { enter, leave } = createNoticePlaces(() => now);
  for (let eshopId = 1; eshopId <= MAX_NOTICES_AT_ONCE; eshopId += 1) expect(enter(eshopId)).toBeNull();
  expect([enter(1), enter(1), enter(2)]).toEqual([1_000, 2_000, 1_000]);
  expect([enter(101), enter(102)]).toEqual([375, 750]);
  leave(1);
  expect([enter(101), enter(1)]).toEqual([null, 1_125]);
  now = 5_000;
  expect([enter(1), enter(101)]).toEqual([375, 1_000]);
});
