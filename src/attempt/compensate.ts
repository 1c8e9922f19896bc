/** The compensation after the last attempt of a delivery, with a report of its changes. */
import { createTurns, type Turns } from '../concurrency/turns.ts';
import type { Pool } from '../db/connection/pool.ts';
import { type Compensation, compensate } from '../db/deliveries/compensation.ts';
import type { DeliveryWatch } from './watch.ts';

export interface CompensationDeps {
  readonly sql: Pool;
  readonly watch: DeliveryWatch;
  /** {@link compensationTurns} */
  readonly compensations: Turns;
}

/**
 * The turns for the compensations of a process: one at a time for each webhook, since more would hold connections and
 * wait for the webhook's row.
 */
export const compensationTurns = () => createTurns({ total: 4, perKey: 1 });

/** Compensates, and may be repeated: only the run that changes something reports it. */
export async function compensateAndReport(
  sql: Pool,
  watch: DeliveryWatch,
  deliveryId: string,
): Promise<Omit<Compensation, 'transition'>> {
  const { transition, ...done } = await compensate(sql, deliveryId);
  if (transition !== null) {
    const { eventType, deactivated: reason, ...webhook } = transition;
    watch.ended(eventType, done.state);
    if (reason !== null) watch.deactivated({ ...webhook, deliveryId, reason, lastError: done.lastError });
  }
  return done;
}
