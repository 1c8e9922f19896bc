/** The deliveries of a record are found by its events or by webhooks: both ways find those of the whole list. */
import { afterAll, expect, test } from 'vitest';
import { listAllDeliveries } from '../../../src/db/deliveries/all-deliveries.ts';
import type { AllDeliveriesFilter } from '../../../src/db/deliveries/delivery-filter.ts';
import { idAt } from '../../../src/domain/id-time.ts';
import { seedLists } from '../../support/database/lists/seed.ts';
import { ROWS, unhurried } from '../../support/database/plans.ts';
import { nightly } from '../../support/runner/nightly.ts';

const { sql, drop } = await unhurried();
afterAll(drop);
const { eshopId, webhookId, busyEntityId: entityId, begin } = await seedLists(sql, nightly ? 3 * ROWS : ROWS);

const middle = new Date((begin.getTime() + Date.now()) / 2);
const [type] = await sql<{ webhookType: string }[]>`
  select webhook_type from webhooks where id = ${webhookId}`;
const narrow: Partial<AllDeliveriesFilter>[] = [{}, { webhookId }, { ...type }];
const times: Partial<AllDeliveriesFilter>[] = [{}, { since: middle }, { until: middle }];
const states = [undefined, 'failed', 'retrying', 'held', 'delivered'] as const;
const filters = narrow.flatMap((one) =>
  times.flatMap((other) => states.map((state) => ({ ...one, ...other, state }))),
);
const cursor = { after: idAt(middle), before: idAt(new Date()) };

async function differences(): Promise<string[]> {
  const wrong: string[] = [];
  for (const filter of filters) {
    const everything = await listAllDeliveries(sql, eshopId, filter, { limit: 20_000, offset: 0 });
    const own = everything.filter((one) => one.entityId === entityId).map(({ id }) => id);
    const after = own.filter((id) => id > cursor.after && id < cursor.before).reverse();
    for (const [part, expected] of [
      [{ limit: 7, offset: 3 }, own.slice(3, 10)],
      [{ limit: 7, ...cursor }, after.slice(0, 7)],
    ] as const) {
      const found = await listAllDeliveries(sql, eshopId, { ...filter, entityId }, part);
      if (found.map(({ id }) => id).join() !== expected.join()) wrong.push(JSON.stringify({ filter, part }));
    }
  }
  return wrong;
}

test('both ways find the same for a twentieth and for nine tenths of all events', async () => {
  expect(await differences()).toEqual([]);
  await sql`
    update events set entity_id = ${entityId} where eshop_id = ${eshopId} and hashtext(id::text) % 10 <> 0`;
  for (const table of ['deliveries', 'redeliveries'])
    await sql`
      update ${sql(table)} set entity_id = ${entityId}
      where eshop_id = ${eshopId} and event_id in (select id from events where entity_id = ${entityId})`;
  expect(await differences()).toEqual([]);
});
