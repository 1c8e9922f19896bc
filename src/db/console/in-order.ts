import { QUEUE } from '../outbox/outbox.ts';
import { oneRow, type Sql } from '../pool.ts';

/** Records of an e-shop of which something waits for its order (docs/interface.md, D16). */
export interface InOrder {
  readonly records: number;
  /** The longest of what waits; null where nothing does. */
  readonly since: Date | null;
}

/**
 * So many deliveries that wait are looked at. Fewer: the count is too low where many wait. More: each look at the overview reads as
 * many rows.
 */
const MOST = 10_000;

export async function readInOrder(sql: Sql, eshopId: number): Promise<InOrder> {
  return await oneRow(sql<InOrder[]>`
    select count(distinct entity_id)::int as records, min(created_at) as since from (
      select entity_id, created_at from deliveries
      where eshop_id = ${eshopId} and queue = ${QUEUE.inOrder} and dispatched_at is null and state = 'pending' limit ${MOST}) d`);
}
