/**
 * What the release timer of a pre-order asks of the database.
 * @module
 */
import { releaseOrder } from '../../domain/order/changes.ts';
import type { Pool, Sql } from '../pool.ts';
import { transaction } from '../transaction.ts';
import { ordersByTimer } from './orders.ts';
import { changeRecord } from './write.ts';

/** A pre-order that still waits. */
export interface OrderRelease {
  readonly status: 'preOrder';
  /** When it is to be released; null while no time is set. */
  readonly releaseAt: Date | null;
}

/** The waiting pre-order, or null when the order is none (any more) or does not exist. */
export async function readOrderRelease(
  sql: Sql,
  eshopId: number,
  eshopOrderId: string,
): Promise<OrderRelease | null> {
  const [row] = await sql<{ releaseAt: Date | null }[]>`
    select release_at from orders
    where eshop_id = ${eshopId} and eshop_order_id = ${eshopOrderId} and status = 'preOrder'`;
  return row === undefined ? null : { status: 'preOrder', releaseAt: row.releaseAt };
}

/**
 * Moves a pre-order whose time has come to preReceived; fires UPDATE_ORDER_STATUS. Doing it again changes nothing.
 * @param options.due a release planned later than this is left alone; the database's present time when left out
 * @returns whether this call released it
 */
export async function releasePreOrder(
  sql: Pool,
  eshopId: number,
  eshopOrderId: string,
  options: { readonly due?: Date } = {},
): Promise<boolean> {
  if ((await readOrderRelease(sql, eshopId, eshopOrderId)) === null) return false;
  let released = false;
  await transaction(sql, (tx) =>
    changeRecord(tx, ordersByTimer, eshopId, eshopOrderId, (order, now) => {
      // Asked again under the lock: it may have been released, canceled or put off a moment ago.
      const until = options.due ?? now;
      const due = order.releaseAt !== null && Date.parse(order.releaseAt) <= until.getTime();
      released = order.status === 'preOrder' && due;
      return released ? releaseOrder(order, now) : order;
    }),
  );
  return released;
}
