/** The console's own queries cost the same however much is stored: they read no whole table. */
import { expect, test } from 'vitest';
import { selectChangeLoop } from '../../src/db/console/change-loop.ts';
import {
  INDEX_ORDER,
  MAX_DELIVERIES_READ,
  selectSpeed,
  selectSteps,
} from '../../src/db/console/delivery-counts.ts';
import { selectLastAccepted } from '../../src/db/console/health.ts';
import { newestRecords } from '../../src/db/console/records.ts';
import type { Pool } from '../../src/db/pool.ts';
import type { Planner } from '../support/lists/plan.ts';
import { seedLists } from '../support/lists/seed.ts';
import { exaggerate, ROWS, unhurried } from '../support/plans.ts';

/** One attempt for each delivery, and as many records of some kinds. */
async function seedMore(sql: Pool, eshopId: number): Promise<void> {
  await sql`
    insert into attempts (delivery_id, number, generation, started_at, finished_at, outcome, duration_ms, status)
    select id, 1, 1, created_at, created_at, 'success', 100, 200 from deliveries`;
  const rows = sql`generate_series(1, ${ROWS}::int) n`;
  const times = sql`now() - interval '1 minute' * n, now() - interval '1 minute' * n`;
  await sql`
    insert into products (eshop_id, sku, name, product_type, scan_serial_number, track_lot, track_expiration, fragile, age_check,
      active, created_at, updated_at)
    select ${eshopId}, n::text, 'A thing', 'finalProduct', false, false, false, false, false, true, ${times} from ${rows}`;
  await sql`
    insert into orders (eshop_id, eshop_order_id, status, order_type, paid, invoice_print, pick_from_quality, tracking_numbers,
      sanction, priority, disable_shipping_reorder, order_files, created_at, updated_at, status_history)
    select ${eshopId}, n::text, 'received', 'b2c', true, false, false, '{}', false, 0, false, '[]', ${times}, '[]' from ${rows}`;
  await sql`
    insert into receivings (eshop_id, eshop_receiving_id, duty, handling_units, packagings, status, supplier, created_at, updated_at)
    select ${eshopId}, n::text, false, 'carton', '[]', 'awaiting', 'Somebody', ${times} from ${rows}`;
  await sql`
    insert into returns (eshop_id, eshop_return_id, status, created_at, updated_at)
    select ${eshopId}, n::text, 'awaiting', ${times} from ${rows}`;
  await sql`
    insert into stock_movements (eshop_id, type, sku, count, balance, created_at)
    select ${eshopId}, 'receiving', n::text, 1, 1, now() - interval '1 minute' * n from ${rows}`;
  for (const table of ['attempts', 'products', 'orders', 'receivings', 'returns', 'stock_movements'])
    await sql`vacuum analyze ${sql(table)}`;
}

const KINDS = ['order', 'product', 'receiving', 'return', 'stockMovement'] as const;

test('neither counts, nor the health of webhooks, nor a list of records reads a whole table', async () => {
  const { sql, planner: plannerOf, drop } = await unhurried();
  try {
    const { eshopId, begin } = await seedLists(sql, ROWS);
    await seedMore(sql, eshopId);
    const rows = await sql<{ id: number }[]>`
        select id from webhooks where eshop_id = ${eshopId} and deleted_at is null`;
    const webhooks = rows.map(({ id }) => id);
    const hourAgo = new Date(Date.now() - 3_600_000);
    const queries: [string, Parameters<Planner['planOf']>[0]][] = [
      ['bars of a month', selectSteps(sql, webhooks, { since: begin, stepSeconds: 10_800 })],
      ['bars of an hour', selectSteps(sql, webhooks, { since: hourAgo, stepSeconds: 60 })],
      ['speed', selectSpeed(sql, webhooks, begin)],
      ['change loops', selectChangeLoop(sql, new Date(Date.now() - 60_000), eshopId)],
      ['last accepted', selectLastAccepted(sql, eshopId)],
      ...KINDS.flatMap((kind): [string, Parameters<Planner['planOf']>[0]][] => [
        [`newest ${kind}`, newestRecords(sql, kind, eshopId, { before: null, most: 31 })],
        [`older ${kind}`, newestRecords(sql, kind, eshopId, { before: '10000', most: 31 })],
      ]),
    ];
    const wrong: string[] = [];
    for (const prepare of [async () => {}, exaggerate]) {
      await prepare(sql);
      const counts = prepare !== exaggerate;
      const planner = await plannerOf({ counts });
      const plannerInIndexOrder = await plannerOf({ counts, settings: INDEX_ORDER });
      for (const [name, query] of queries) {
        const by = /bars|speed/.test(name) ? plannerInIndexOrder : planner;
        const { scanned, indexes, read } = await by.planOf(query);
        if (indexes.length === 0) wrong.push(`${name}: no index`);
        for (const table of scanned) if (table !== 'webhooks') wrong.push(`${name}: all of ${table}`);
        // The record after which it begins, and each record with its lines.
        if (/newest|older/.test(name) && read > 200) wrong.push(`${name}: ${read} rows`);
      }
    }
    expect(wrong).toEqual([]);
    expect(MAX_DELIVERIES_READ).toBeGreaterThan(ROWS);
  } finally {
    await drop();
  }
});

test('of the newest no more are read than are looked at, however many webhooks there are', async () => {
  const { sql, planner: plannerOf, drop } = await unhurried();
  try {
    const { eshopId, begin } = await seedLists(sql, ROWS);
    await exaggerate(sql);
    const rows = await sql<{ id: number }[]>`
        select id from webhooks where eshop_id = ${eshopId} and deleted_at is null`;
    const webhooks = rows.map(({ id }) => id);
    expect(webhooks.length).toBeGreaterThan(90);
    await seedMore(sql, eshopId);
    const planner = await plannerOf({ settings: INDEX_ORDER });
    const { read } = await planner.planOf(selectSpeed(sql, webhooks, begin));
    // Two thousand deliveries with one attempt each, and a row or two for each webhook in each of its weeks.
    expect(read).toBeLessThan(2_000 * 2 + webhooks.length * 20);
  } finally {
    await drop();
  }
});
