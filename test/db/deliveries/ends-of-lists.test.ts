/** A list that would look through too many deliveries ends before, and says so. */
import { NIL } from 'uuid';
import { expect, test } from 'vitest';
import { readList } from '../../../src/api/cursor.ts';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { counted } from '../../../src/db/connection/pool.ts';
import {
  countAllDeliveries,
  endOfList,
  listAllDeliveries,
} from '../../../src/db/deliveries/all-deliveries.ts';
import type { AllDeliveriesFilter } from '../../../src/db/deliveries/delivery-filter.ts';
import { lowWaterMark } from '../../../src/db/maintenance/low-water-mark.ts';
import { accepted, fireDelivery, makeAttempt } from '../../support/database/deliveries.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';
import { until } from '../../support/until.ts';

/** How many are looked through of each of two webhooks. */
const EACH = 5;

const { sql } = await databaseOfFile();
const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
const [webhookId] = [
  await insertWebhook(sql, eshopId, 'CREATE_ORDER'),
  await insertWebhook(sql, eshopId, 'CREATE_ORDER'),
];
for (let index = 0; index < 12; index += 1) await fireDelivery(sql, { eshopId, webhookId });
/** Of two webhooks in turn, oldest first. */
const made = (await sql<{ id: string }[]>`select id from deliveries order by id`).map(({ id }) => id);
for (const [index, id] of made.entries())
  await makeAttempt(sql, id, 1, { ...accepted, status: index === 1 || index === 22 ? 202 : 200 });
// A cursor holds back what was written within the last second.
await until('the cursor to reach the newest', async () => (await lowWaterMark(sql)) > (made.at(-1) ?? ''));

interface Found {
  readonly rows: readonly { readonly id: string }[];
  readonly cursor?: { readonly after: string; readonly more: boolean };
  readonly pagination?: { readonly totalCount: number };
}

function read(filter: AllDeliveriesFilter, asked: { after?: string; items?: number }): Promise<Found> {
  return readList(sql, asked, {
    list: (slice) => listAllDeliveries(sql, eshopId, filter, slice),
    count: (afterId) => counted(countAllDeliveries(sql, eshopId, filter, afterId)),
    endOf: (slice) => endOfList(sql, eshopId, filter, slice, 2 * EACH),
  });
}
const rare: AllDeliveriesFilter = { status: { range: { from: 202, to: 202 }, attempts: 'last' } };

test('pages by cursor contain everything, and only the last has no more', async () => {
  const pages: string[][] = [];
  let after: string = NIL;
  for (let more = true; more; ) {
    const { rows, cursor } = await read(rare, { after });
    if (cursor === undefined) throw new Error('no cursor');
    pages.push(rows.map(({ id }) => id));
    expect(cursor.after > after).toBe(cursor.more || rows.length > 0);
    ({ after, more } = cursor);
  }
  expect(pages.flat()).toEqual([made[1], made[22]]);
  // 24 deliveries, ten of them at a time.
  expect(pages.map(({ length }) => length)).toEqual([1, 0, 1]);
});

test('a full page by cursor ends with its last row, wherever the list ends', async () => {
  const all: AllDeliveriesFilter = { state: 'delivered' };
  const { rows, cursor } = await read(all, { after: NIL, items: 3 });
  expect(rows.map(({ id }) => id)).toEqual(made.slice(0, 3));
  expect(cursor).toEqual({ after: made[2], more: true });
});

test('a list by page number, and its count, end after the newest match', async () => {
  const { rows, pagination } = await read(rare, {});
  expect(rows.map(({ id }) => id)).toEqual([made[22]]);
  expect(pagination?.totalCount).toBe(1);
});

test('a list that an index can serve has no early end', async () => {
  const slice = { limit: 1, offset: 0 };
  for (const filter of [{}, { state: 'failed' as const }, { ...rare, entityId: '1' }])
    expect(await endOfList(sql, eshopId, filter, slice, 1)).toBeUndefined();
  // None of these has a failed attempt, so none has to be looked through.
  const failing: AllDeliveriesFilter = { status: { range: null, attempts: 'any' } };
  expect(await endOfList(sql, eshopId, failing, slice, 1)).toBeUndefined();
});
