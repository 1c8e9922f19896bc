/**
 * Deliveries that a batch handed back: each waits in the outbox for a workflow of its own.
 * @module
 */
import type { Sql } from '../pool.ts';
import { type ClaimedDelivery, LEASE_SECONDS } from './outbox.ts';

/** A delivery that a batch handed back. */
export interface HandedBackDelivery extends ClaimedDelivery {
  /** 0 where it could not be attempted. */
  readonly attemptsMade: number;
  readonly lastAttemptAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
}

/** Claims deliveries that were handed back, those due first. */
export async function claimHandedBack(sql: Sql, limit: number): Promise<HandedBackDelivery[]> {
  return await sql<HandedBackDelivery[]>`
    update deliveries set claimed_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where id in (
      select id from deliveries
      where dispatched_at is null and handed_back_at is not null and (claimed_until is null or claimed_until < now())
      order by coalesce(next_attempt_at, handed_back_at) limit ${limit} for update skip locked)
    returning id, eshop_id, webhook_id, event_type, entity_id, attempts_made, last_attempt_at, last_status, last_error,
      next_attempt_at`;
}
