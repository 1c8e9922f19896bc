/** The compensation after the last attempt of a delivery, with the report of what it changed. */

import type { Pool } from '../db/pool.ts';
import { type Compensation, compensate } from '../db/webhooks/compensation.ts';
import type { DeliveryWatch } from './watch.ts';

/** May be repeated: only the run that changes something reports it. */
export async function compensateAndReport(
  sql: Pool,
  watch: DeliveryWatch,
  deliveryId: string,
): Promise<Omit<Compensation, 'transition'>> {
  const { transition, ...done } = await compensate(sql, deliveryId);
  if (transition !== null) {
    const { eventType, deactivated: reason, ...webhook } = transition;
    watch.ended(eventType, 'failed');
    if (reason !== null) watch.deactivated({ ...webhook, deliveryId, reason, lastError: done.lastError });
  }
  return done;
}
