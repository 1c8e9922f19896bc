/** The lists of events and deliveries read what they show, and not what is stored. */
import { expect, test } from 'vitest';
import { planOf } from '../../bench/lists/plan.ts';
import { directions, listQueries } from '../../bench/lists/queries.ts';
import { seedLists } from '../../bench/lists/seed.ts';
import { listEvents, selectDeliveriesOf } from '../../src/db/event-log.ts';
import { selectCountOfLost } from '../../src/db/recoveries/lost-events.ts';
import { exaggerate, PATIENCE_MS, ROWS, unhurried } from '../support/plans.ts';

test.each([
  ['as they are', async () => {}, true],
  ['as ten million deliveries have them', exaggerate, false],
] as const)(
  'no filter, page or cursor makes a list read a whole table, with statistics %s',
  async (_, prepare, run) => {
    const { sql, drop } = await unhurried();
    try {
      const seeded = await seedLists(sql, ROWS);
      await prepare(sql);
      // One value of each filter, but for the states: other values have the same plans.
      const lists = listQueries(sql, seeded).filter(({ filters }) => !/\(/.test(filters.join()));
      expect(lists).toHaveLength(2 ** 5 * 8 + 2 ** 4);
      const wrong: string[] = [];
      const look = async (name: string, query: Parameters<typeof planOf>[1]) => {
        const { scanned, indexes } = await planOf(sql, query, run);
        if (indexes.length === 0) wrong.push(`${name}: no index`);
        for (const table of scanned) if (!/^webhook/.test(table)) wrong.push(`${name}: all of ${table}`);
      };
      for (const list of lists) {
        for (const direction of directions) {
          for (const query of list.queries(direction))
            await look(`${list.list} ${list.filters.join(', ')} (${direction})`, query);
        }
      }
      const page = await listEvents(sql, seeded.eshopId, {}, { limit: 100, offset: 0 });
      const ids = page.map(({ id }) => id);
      await look('the deliveries of a page of events', selectDeliveriesOf(sql, ids));
      expect(wrong).toEqual([]);
    } finally {
      await drop();
    }
  },
  PATIENCE_MS,
);

test(
  'whoever looks for lost events reads those of the type, and not all of the e-shop',
  async () => {
    const { sql, drop } = await unhurried();
    try {
      const { eshopId, changedWebhookId, earlierType, begin } = await seedLists(sql, ROWS);
      const search = {
        eshopId,
        webhookId: changedWebhookId,
        webhookType: earlierType,
        since: begin,
        until: new Date(),
        include: ['failed', 'missed'],
      } as const;
      const [row] = await sql<{ all: number; suspects: number }[]>`
      select count(*)::int as all, (count(*) filter (where type = ${earlierType}))::int as suspects
      from events where eshop_id = ${eshopId}`;
      const { all = 0, suspects = 0 } = row ?? {};
      // Of each the event, its place in an index, and its deliveries to all webhooks of the type.
      const most = 10 * suspects;
      expect(most).toBeLessThan(all);
      const { scanned, read } = await planOf(sql, selectCountOfLost(sql, search, null, all));
      expect(scanned).toEqual([]);
      expect(read).toBeLessThan(most);
    } finally {
      await drop();
    }
  },
  PATIENCE_MS,
);
