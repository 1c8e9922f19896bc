/** A webhook's settings at the time of an event (docs/interface.md, L9), however often they were changed. */
import { expect, test } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { versionsOf } from '../../../src/db/event-log.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const { sql } = await databaseOfFile();
const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });

async function changed(times: number): Promise<number> {
  const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  for (let time = 0; time < times; time += 1)
    await sql`update webhooks set active = not active where id = ${webhookId}`;
  return webhookId;
}

test('the last 200 versions of a webhook are read; its state before them is unknown', async () => {
  const seldom = await changed(2);
  const often = await changed(299);
  const versions = await versionsOf(sql, eshopId, ['CREATE_ORDER']);
  const of = (id: number) => versions.filter(({ webhookId }) => webhookId === id);
  expect(of(seldom).map(({ active }) => active)).toEqual([true, false, true]);
  expect(of(often)).toHaveLength(201);
  expect(of(often).map(({ active }) => active)).toEqual([
    null,
    ...Array.from({ length: 200 }, (_, index) => index % 2 === 0),
  ]);
  const [webhook] = await sql<{ registeredAt: Date }[]>`
    select registered_at from webhooks where id = ${often}`;
  expect(of(often)[0]?.at).toEqual(webhook?.registeredAt);
  const times = of(often).map(({ at }) => at.getTime());
  expect(times).toEqual([...times].sort((one, other) => one - other));
});
