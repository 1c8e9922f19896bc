/**
 * What the release timer of a pre-order asks of the database.
 * @module
 */
import type { Pool, Sql } from './pool.ts';

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
 * @returns whether this call released it
 */
export async function releasePreOrder(
  _sql: Pool,
  _eshopId: number,
  _eshopOrderId: string,
  _options: { readonly due: Date },
): Promise<boolean> {
  throw new Error('Pre-orders cannot be released yet.');
}
