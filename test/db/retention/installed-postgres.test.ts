/** Weeks are made and dropped on the versions of Postgres that Debian's packages have installed. */
import { expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../../src/db/connection/pool.ts';
import { migrate } from '../../../src/db/migrate.ts';
import { countOutOfRange, listPartitions } from '../../../src/db/retention/partitions.ts';
import { weekName } from '../../../src/domain/weeks.ts';
import { makeAhead, retain } from '../../../src/retention/retain.ts';
import { insertShop } from '../../support/database/events.ts';
import { databaseOn, installedPostgres } from '../../support/database/other-postgres.ts';
import { firstWeek, insertDelivery, weeksAfter } from '../../support/database/weeks.ts';

const DAY = 24 * 3_600_000;
const retentionMs = 30 * DAY;

const installed = installedPostgres();

test.skipIf(installed.length === 0).each(installed.length === 0 ? ['no folder'] : installed)(
  'with the programs in %s, weeks are made ahead, take all rows, and are dropped',
  async (programs) => {
    const url = await databaseOn(programs);
    await migrate(url);
    const sql = createPool(url, 4);
    onTestFinished(() => sql.end({ timeout: 5 }));
    const { eshopId, webhookId } = await insertShop(sql);
    const insert = (at: Date) => insertDelivery(sql, { eshopId, webhookId, at });
    const monday = await firstWeek(sql);

    expect((await makeAhead(sql)).made.length).toBeGreaterThan(0);
    // A dropped column stays in the catalog.
    await sql`alter table deliveries add column former int`;
    await sql`alter table deliveries drop column former`;
    await insert(new Date(monday.getTime() - DAY));
    await insert(monday);
    const now = new Date(monday.getTime() + retentionMs);
    const done = await retain(sql, { retentionMs, now });
    const newest = weeksAfter(monday, 8);
    await insert(newest);

    expect(done.made.at(-1)).toBe(weekName(newest));
    expect(done.postponed).toEqual([]);
    expect(done.dropped.map(({ partition }) => partition)).toEqual([
      'deliveries_first',
      'attempts_first',
      'events_first',
    ]);
    expect(await countOutOfRange(sql)).toBe(0);
    expect(await sql`select from deliveries`).toHaveLength(2);
    const partitions = await listPartitions(sql);
    expect(partitions.filter(({ week }) => week === weekName(newest))).toHaveLength(3);
    // The planner must not take such a column's values for rare.
    const withoutStatistics = (table: string) => sql<{ name: string }[]>`
      select attname as name from pg_attribute
      where attrelid = ${table}::regclass and attstattarget = 0 and attnum > 0 and not attisdropped order by 1`;
    expect(await withoutStatistics(`deliveries_${weekName(newest)}`)).toHaveLength(6);
    expect(await withoutStatistics('deliveries')).toHaveLength(6);
  },
);
