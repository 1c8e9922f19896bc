/** Removes an e-shop: ends its work, then deletes its data. */
import type postgres from 'postgres';
import { counted, oneRow, type Pool, type Sql } from '../connection/pool.ts';
import { enqueueReleaseChange } from '../outbox/changes.ts';
import { isOpen } from '../predicates.ts';
import { mappings } from '../records/mappings.ts';
import { inPages } from '../retention/pages.ts';
import { TABLES_OF_WEBHOOKS } from '../retention/webhook-history.ts';
import { transaction } from '../transaction.ts';
import { deleteWebhook } from '../webhooks/change.ts';
import { listWebhooks } from '../webhooks/webhooks.ts';

/** The number of an e-shop's rows, by kind. */
export interface EshopHoldings {
  readonly users: number;
  readonly webhooks: number;
  readonly products: number;
  readonly orders: number;
  readonly receivings: number;
  readonly returns: number;
  readonly stockMovements: number;
  readonly events: number;
  readonly deliveries: number;
  /** They end as canceled. */
  readonly openDeliveries: number;
}

/** The webhooks of an e-shop, deleted ones included: deliveries are found by their webhooks. */
const webhooksOf = (sql: Sql, eshopId: number) => sql`select id from webhooks where eshop_id = ${eshopId}`;

export async function countHoldings(sql: Sql, eshopId: number): Promise<EshopHoldings> {
  const count = (table: string) =>
    sql`(select count(*)::integer from ${sql(table)} where eshop_id = ${eshopId})`;
  return await oneRow(sql<EshopHoldings[]>`
    select ${count('users')} as users,
      (select count(*)::integer from webhooks where eshop_id = ${eshopId} and deleted_at is null) as webhooks,
      ${count('products')} as products, ${count('orders')} as orders, ${count('receivings')} as receivings,
      ${count('returns')} as returns, ${count('stock_movements')} as stock_movements, ${count('events')} as events,
      (select count(*)::integer from deliveries where webhook_id in (${webhooksOf(sql, eshopId)})) as deliveries,
      (select count(*)::integer from deliveries where eshop_id = ${eshopId} and ${isOpen(sql, 'deliveries')}) as open_deliveries`);
}

/**
 * Deletes the webhooks of an e-shop, which ends their deliveries and recoveries, and the release times of its
 * pre-orders. The changes are passed on to their workflows.
 */
export async function endWork(sql: Pool, eshopId: number): Promise<void> {
  for (const { id } of await listWebhooks(sql, eshopId, null)) await deleteWebhook(sql, eshopId, id);
  await inPages({ page: 500 }, (limit) =>
    transaction(sql, async (tx) => {
      const ended = await tx<{ eshopOrderId: string }[]>`
        update orders set release_at = null where ctid = any(array(
          select ctid from orders
          where eshop_id = ${eshopId} and status = 'preOrder' and release_at is not null limit ${limit} for update))
        returning eshop_order_id`;
      for (const { eshopOrderId } of ended) await enqueueReleaseChange(tx, eshopId, eshopOrderId);
      return ended.length;
    }),
  );
}

/** Counts what is still under way for an e-shop: open deliveries, recoveries, and changes to pass on to workflows. */
export async function countUnderWay(sql: Sql, eshopId: number): Promise<number> {
  return await counted(sql<{ count: number }[]>`
    select ((select count(*) from deliveries where eshop_id = ${eshopId} and ${isOpen(sql, 'deliveries')})
      + (select count(*) from changes_to_signal where eshop_id = ${eshopId})
      + (select count(*) from recoveries where eshop_id = ${eshopId} and state in ('running', 'paused')))::integer as count`);
}

/**
 * Deleted after the rows of webhooks, in this order: rows that refer to others first. Lines go with their records,
 * sessions with their users. Events refer to nothing: once their records are gone, no request that began earlier
 * can write another one.
 */
const OF_ESHOP = [
  'changes_to_signal',
  'stock_reservations',
  ...Object.values(mappings)
    .map(({ table }) => table)
    .reverse(),
  'unchanged_writes',
  'import_keys',
  'stored_responses',
  'notices',
  'notice_addresses',
  'signing_keys',
  'users',
  'events',
];
/**
 * Rows per statement: fewer than for the retention, since these rows have lines or attempts. Too low: more
 * statements. Too high: others wait longer for locks.
 */
const PAGE = 2_000;

/**
 * Deletes all data of an e-shop whose work has ended, the e-shop itself last; if interrupted, the next run continues.
 * @returns false when there is no such e-shop
 */
export async function removeEshop(sql: Pool, eshopId: number, signal: AbortSignal): Promise<boolean> {
  const paging = { signal, page: PAGE };
  const removeDeliveries = () =>
    inPages(paging, (limit) =>
      counted(sql<{ count: number }[]>`
        with page as (
          delete from deliveries where id in (
            select id from deliveries where webhook_id in (${webhooksOf(sql, eshopId)}) limit ${limit})
          returning id),
        gone as (delete from attempts where delivery_id in (select id from page))
        select count(*)::integer as count from page`),
    );
  const remove = (table: string, where: postgres.Fragment) =>
    inPages(paging, async (limit) => {
      // Events by id: several partitions may have a row at the same `ctid`.
      const key = sql(table === 'events' ? 'id' : 'ctid');
      const { count } = await sql`
        delete from ${sql(table)} where ${key} = any(array(
          select x.${key} from ${sql(table)} x where ${where} limit ${limit}))`;
      return count;
    });
  // Until nothing is left: requests that began earlier may still add rows, and an updated row has a new `ctid` and
  // is missed.
  for (let removed = 1; removed > 0; ) {
    removed = await removeDeliveries();
    for (const table of TABLES_OF_WEBHOOKS)
      removed += await remove(table, sql`x.webhook_id in (${webhooksOf(sql, eshopId)})`);
    for (const table of OF_ESHOP) removed += await remove(table, sql`x.eshop_id = ${eshopId}`);
    signal.throwIfAborted();
  }
  // Deliveries and the tables above are found by their webhooks.
  await remove('webhooks', sql`x.eshop_id = ${eshopId}`);
  return (await sql`delete from eshops where id = ${eshopId} returning id`).length > 0;
}
