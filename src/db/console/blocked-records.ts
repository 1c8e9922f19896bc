import { oneRow, type Sql } from '../connection/pool.ts';
import { waitsForTurn } from '../outbox/ordering.ts';
import { makesAttempts } from '../pauses.ts';

/**
 * The records of an e-shop with deliveries that wait for their order (docs/interface.md, D16). Those that an inactive
 * or paused webhook holds wait for the webhook.
 */
export interface BlockedRecords {
  readonly records: number;
  /** Since when the oldest waits; null if none does. */
  readonly since: Date | null;
}

/**
 * The most waiting deliveries that are read. Too low: the count is too low if many wait. Too high: each view of the
 * overview reads as many rows.
 */
const MOST = 10_000;

export async function readBlockedRecords(sql: Sql, eshopId: number): Promise<BlockedRecords> {
  return await oneRow(sql<BlockedRecords[]>`
    select count(distinct entity_id)::int as records, min(created_at) as since from (
      select d.* from webhooks w cross join lateral (
        select entity_id, created_at from deliveries x
        where ${waitsForTurn(sql, 'x')} and eshop_id = ${eshopId} and webhook_id = w.id
        limit ${MOST}) d
      where w.eshop_id = ${eshopId} and ${makesAttempts(sql, 'w')} limit ${MOST}) d`);
}
