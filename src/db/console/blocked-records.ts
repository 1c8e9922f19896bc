import { CLASS } from '../outbox/outbox.ts';
import { oneRow, type Sql } from '../pool.ts';

/** The records of an e-shop with deliveries that wait for their order (docs/interface.md, D16). */
export interface BlockedRecords {
  readonly records: number;
  /** Since when the oldest waits; null if none does. */
  readonly since: Date | null;
}

/**
 * The most waiting deliveries that are read. Fewer: the count is too low if many wait. More: each view of the
 * overview reads as many rows.
 */
const MOST = 10_000;

export async function readBlockedRecords(sql: Sql, eshopId: number): Promise<BlockedRecords> {
  return await oneRow(sql<BlockedRecords[]>`
    select count(distinct entity_id)::int as records, min(created_at) as since from (
      select entity_id, created_at from deliveries
      where eshop_id = ${eshopId} and class = ${CLASS.blocked} and dispatched_at is null and state = 'pending' limit ${MOST}) d`);
}
