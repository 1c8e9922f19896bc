import type { Sql } from '../connection/pool.ts';

/** Whether an expired delivery lost its window to a failure of Waybill itself; false if nobody knows it. */
export async function wasWindowLost(sql: Sql, deliveryId: string): Promise<boolean> {
  const [row] = await sql<{ windowLost: boolean }[]>`
    select window_lost from deliveries where id = ${deliveryId} and state = 'expired'`;
  return row?.windowLost ?? false;
}
