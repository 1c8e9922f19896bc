/** The lists of events and deliveries read what they show, and not what is stored. */
import { expect, test } from 'vitest';
import { answered, deliveriesQuery, listQueries, seedLists } from '../../bench/list-queries.ts';
import { createTestDatabase } from '../support/database.ts';

test('no filter, page or cursor makes a list read a whole table', async ({ onTestFinished }) => {
  const { sql, drop } = await createTestDatabase();
  onTestFinished(drop);
  const seeded = await seedLists(sql, 40_000);
  const queries = [...listQueries(sql, seeded), await deliveriesQuery(sql, seeded)];
  expect(queries.length).toBeGreaterThan(80);
  const scans: string[] = [];
  for (const query of queries) {
    const { name, scanned, indexes } = await answered(query);
    expect(indexes, name).not.toEqual([]);
    for (const table of scanned) if (/^(events|deliveries)/.test(table)) scans.push(`${name}: ${table}`);
  }
  expect(scans).toEqual([]);
});
