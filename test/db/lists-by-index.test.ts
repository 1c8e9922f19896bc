/** The lists of events and deliveries read the rows that they show, and not all that are stored. */
import { expect, test } from 'vitest';
import { deliveriesOf, listEvents } from '../../src/db/event-log.ts';
import type { Pool } from '../../src/db/pool.ts';
import { selectCountOfLost } from '../../src/db/recoveries/lost-events.ts';
import {
  type AllDeliveriesFilter,
  countAllDeliveries,
  listAllDeliveries,
} from '../../src/db/webhooks/all-deliveries.ts';
import { deliveryStates } from '../../src/domain/delivery-state.ts';
import { idAt } from '../../src/domain/id-time.ts';
import type { Planner } from '../support/lists/plan.ts';
import { directions, listQueries } from '../support/lists/queries.ts';
import { type Seeded, seedLists } from '../support/lists/seed.ts';
import { nightly } from '../support/nightly.ts';
import { exaggerate, ROWS, unhurried } from '../support/plans.ts';

const statistics = [
  ['as ten million deliveries have them', exaggerate, false],
  ['as they are', async () => {}, true],
] as const;
/** For every change at most two filters, in nightly any number. */
const tried = ({ filters }: { readonly filters: readonly string[] }) => nightly || filters.length <= 2;

test.each(statistics.slice(0, nightly ? 2 : 1))(
  'no filter, page or cursor makes a list read a whole table, with statistics %s',
  async (_, prepare, counts) => {
    const { sql, planner: plannerOf, drop } = await unhurried();
    try {
      const seeded = await seedLists(sql, ROWS);
      await prepare(sql);
      // One value of each filter, except for the states: the other values have the same plans.
      const lists = listQueries(sql, seeded).filter(({ filters }) => !/\(/.test(filters.join()));
      expect(lists).toHaveLength(2 ** 5 * (deliveryStates.length + 1) * 3 + 2 ** 4);
      const wrong: string[] = [];
      const planner = await plannerOf({ counts });
      const look = async (name: string, query: Parameters<Planner['planOf']>[0]) => {
        const { scanned, indexes } = await planner.planOf(query);
        if (indexes.length === 0) wrong.push(`${name}: no index`);
        for (const table of scanned) if (!/^webhook/.test(table)) wrong.push(`${name}: all of ${table}`);
      };
      for (const list of lists.filter(tried)) {
        for (const direction of directions) {
          for (const query of list.queries(direction))
            await look(`${list.list} ${list.filters.join(', ')} (${direction})`, query);
        }
      }
      const page = await listEvents(sql, seeded.eshopId, {}, { limit: 100, offset: 0 });
      const ids = page.map(({ id }) => id);
      await look('the deliveries of a page of events', deliveriesOf(sql, ids));
      expect(wrong).toEqual([]);
    } finally {
      await drop();
    }
  },
);

test('a search for lost events reads those of the types that the webhook has or had, and not all of the e-shop', async () => {
  const { sql, planner: plannerOf, drop } = await unhurried();
  try {
    const { eshopId, changedWebhookId, begin } = await seedLists(sql, ROWS);
    const search = {
      eshopId,
      webhookId: changedWebhookId,
      since: begin,
      until: new Date(),
      include: ['failed', 'missed'],
    } as const;
    const [row] = await sql<{ all: number; suspects: number }[]>`
      select count(*)::int as all, (count(*) filter (where type = any(
        select type from webhook_types where webhook_id = ${changedWebhookId})))::int as suspects
      from events where eshop_id = ${eshopId}`;
    const { all = 0, suspects = 0 } = row ?? {};
    // For each event: itself, its entry in an index, the version then, and its deliveries to all webhooks of the type.
    const most = 5 * suspects;
    expect(most).toBeLessThan(all);
    const { scanned, read } = await (await plannerOf()).planOf(selectCountOfLost(sql, search, null, all));
    expect(scanned).toEqual([]);
    expect(read).toBeLessThan(most);
  } finally {
    await drop();
  }
});

test.runIf(nightly)(
  'of a record that many events tell of, a rare state costs what is in that state, and any other filter what is shown',
  async () => {
    const { sql, planner: plannerOf, drop } = await unhurried();
    try {
      const seeded = await seedLists(sql, ROWS);
      await exaggerate(sql);
      const planner = await plannerOf();
      const few = await countEvents(sql, seeded);
      // For each event: its entry in an index and its deliveries by id, not a lookup for each of a hundred webhooks.
      expect(await pagesOf(planner, sql, seeded)).toBeLessThan(30 * few + 300);

      await manyEvents(sql, seeded);
      const many = await countEvents(sql, seeded);
      expect(many).toBeGreaterThan(1_000);
      expect(await pagesOf(planner, sql, seeded, /expired|canceled|webhookId/)).toBeLessThan(4 * many);
    } finally {
      await drop();
    }
  },
);

test.runIf(nightly)(
  'however a record’s deliveries are found, they are those of the list without it',
  async () => {
    const { sql, drop } = await unhurried();
    try {
      const seeded = await seedLists(sql, 3 * ROWS);
      const { eshopId, webhookId, busyEntityId: entityId, begin } = seeded;
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
      const differences = async () => {
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
            if (found.map(({ id }) => id).join() !== expected.join())
              wrong.push(JSON.stringify({ filter, part }));
          }
        }
        return wrong;
      };
      expect(await differences()).toEqual([]);
      await manyEvents(sql, seeded);
      expect(await differences()).toEqual([]);
    } finally {
      await drop();
    }
  },
);

test.runIf(nightly)(
  'the list of a webhook with very many deliveries reads those of the time that is asked for',
  async () => {
    const { sql, planner: plannerOf, drop } = await unhurried();
    try {
      const seeded = await seedLists(sql, ROWS);
      const { eshopId, webhookId, entityId, begin } = seeded;
      for (const table of ['deliveries', 'redeliveries'])
        await sql`update ${sql(table)} set webhook_id = ${webhookId} where eshop_id = ${eshopId}`;
      await exaggerate(sql);
      const [row] = await sql<{ all: number }[]>`
        select count(*)::int as all from deliveries where webhook_id = ${webhookId}`;
      const { all = 0 } = row ?? {};
      const most = all / 10;
      const day = (number: number) => new Date(begin.getTime() + number * 24 * 3_600_000);
      const times = [{ since: day(29) }, { until: day(1) }, { since: day(15), until: day(16) }];
      const planner = await plannerOf();
      const wrong: string[] = [];
      for (const state of [undefined, ...deliveryStates]) {
        for (const made of times) {
          for (const entity of [undefined, entityId]) {
            const filter = { webhookId, state, entityId: entity, made };
            for (const query of [
              listAllDeliveries(sql, eshopId, filter, { limit: 30, offset: 0 }),
              countAllDeliveries(sql, eshopId, filter),
            ]) {
              const { scanned, read } = await planner.planOf(query);
              const tables = scanned.filter((table) => !/^webhook/.test(table));
              if (read > most || tables.length > 0) wrong.push(JSON.stringify({ filter, read, tables }));
            }
          }
        }
      }
      const newest = listAllDeliveries(sql, eshopId, { webhookId }, { limit: 30, offset: 0 });
      expect((await planner.planOf(newest)).read).toBeLessThan(most);
      expect(wrong).toEqual([]);
    } finally {
      await drop();
    }
  },
);

/** Moves nine of ten events of the e-shop, with their deliveries, to the busy record. */
async function manyEvents(sql: Pool, { eshopId, busyEntityId }: Seeded): Promise<void> {
  await sql`
    update events set entity_id = ${busyEntityId} where eshop_id = ${eshopId} and hashtext(id::text) % 10 <> 0`;
  for (const table of ['deliveries', 'redeliveries'])
    await sql`
      update ${sql(table)} set entity_id = ${busyEntityId}
      where eshop_id = ${eshopId} and event_id in (select id from events where entity_id = ${busyEntityId})`;
}

/** The number of events of the busy record. */
async function countEvents(sql: Pool, { eshopId, busyEntityId }: Seeded): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from events where eshop_id = ${eshopId} and entity_id = ${busyEntityId}`;
  return row?.count ?? 0;
}

/** The most pages that a list of the busy record's deliveries reads, with at most one more filter. */
async function pagesOf(planner: Planner, sql: Pool, seeded: Seeded, besides = /./): Promise<number> {
  const lists = listQueries(sql, seeded).filter(
    ({ list, filters }) =>
      list === 'deliveries' && filters.length <= 2 && filters.at(-1) === BUSY && besides.test(filters.join()),
  );
  let most = 0;
  for (const direction of directions) {
    for (const query of lists.flatMap(({ queries }) => queries(direction)))
      most = Math.max(most, (await planner.planOf(query)).pages);
  }
  return most;
}
const BUSY = 'entityId (busy)';
