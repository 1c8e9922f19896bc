/** The database queries of a pre-order's release timer. */
import { releaseOrder } from '../../domain/order/changes.ts';
import type { Pool, Sql } from '../connection/pool.ts';
import { transaction } from '../transaction.ts';
import { ordersByTimer } from './orders.ts';
import { changeRecord } from './write.ts';

/** The time between two releases of one e-shop due in the same second: each costs as much as two deliveries. */
const RELEASE_SPACING_MS = 100;
/** Up to this many get their own slots, which takes ten minutes; if there are more, each gets a random one. */
const MAX_SPACED_RELEASES = 6_000;
/** The longest that others of the same second can delay a release, in milliseconds. */
export const MAX_RELEASE_SPREAD_MS = RELEASE_SPACING_MS * MAX_SPACED_RELEASES;

/** The pre-orders `s` of the e-shop of `o` that are due in the same second as `o`, itself included. */
export const ofSameSecond = (sql: Sql) => sql`
  s.status = 'preOrder' and s.eshop_id = o.eshop_id
  and s.release_at >= date_trunc('second', o.release_at)
  and s.release_at < date_trunc('second', o.release_at) + interval '1 second'`;

/**
 * When the timer of a waiting pre-order ends, in milliseconds since 1970: a little later than due if its e-shop has
 * others in the same second, in order of creation. `releaseAt` is null if no time is set. `readAt` is the present, by
 * the database's clock or this machine's, whichever is behind: a release cannot be taken back. The result is null if
 * it is no longer a pre-order.
 */
export async function readReleaseTime(sql: Sql, eshopId: number, eshopOrderId: string) {
  const [row] = await sql<{ releaseAt: Date | null; readAt: Date; before: number; ofSecond: number }[]>`
    select o.release_at, clock_timestamp() as read_at, second.before, second.of_second
    from orders o cross join lateral (
      select count(*) filter (where (s.created_at, s.eshop_order_id) < (o.created_at, o.eshop_order_id))::int as before,
             count(*)::int as of_second
      from (
        select s.created_at, s.eshop_order_id from orders s where ${ofSameSecond(sql)}
        limit ${MAX_SPACED_RELEASES + 1}) s) second
    where o.eshop_id = ${eshopId} and o.eshop_order_id = ${eshopOrderId} and o.status = 'preOrder'`;
  if (row === undefined) return null;
  const readAt = Math.min(row.readAt.getTime(), Date.now());
  if (row.releaseAt === null) return { releaseAt: null, readAt };
  const place =
    row.ofSecond <= MAX_SPACED_RELEASES ? row.before : Math.floor(Math.random() * MAX_SPACED_RELEASES);
  return { releaseAt: row.releaseAt.getTime() + place * RELEASE_SPACING_MS, readAt };
}

/**
 * Moves a due pre-order to preReceived; fires UPDATE_ORDER_STATUS. May be repeated. One planned for later stays.
 * @returns whether this call released it
 */
export async function releasePreOrder(sql: Pool, eshopId: number, eshopOrderId: string): Promise<boolean> {
  const waiting = await sql`
    select from orders where eshop_id = ${eshopId} and eshop_order_id = ${eshopOrderId} and status = 'preOrder'`;
  if (waiting.length === 0) return false;
  let released = false;
  await transaction(sql, (tx) =>
    changeRecord(tx, ordersByTimer, eshopId, 'service', eshopOrderId, (order, now) => {
      // Checked again under the lock: it may just have been released, canceled or postponed.
      const due = order.releaseAt !== null && Date.parse(order.releaseAt) <= now.getTime();
      released = order.status === 'preOrder' && due;
      return released ? releaseOrder(order, now) : order;
    }),
  );
  return released;
}
