/** Deliveries whose request cannot be prepared. */
import { closeDelivery, startWindow } from '../db/webhooks/deliveries.ts';
import type { AttemptDeps } from './begin-attempt.ts';
import { InternalFailure } from './internal-failure.ts';
import type { AttemptCommand, AttemptVerdict } from './outcome.ts';

const CANNOT_BE_PREPARED = 'Waybill cannot prepare this delivery; the receiver is not at fault';

/**
 * No request can be made from the stored records. This may pass (a worker may not know a new key yet), so the delivery is retried until
 * its window ends, and then ends as an internal failure: the webhook stays as it is.
 * @throws InternalFailure unless it is the delivery's last chance
 */
export async function cannotBePrepared(
  { sql, log, watch }: Pick<AttemptDeps, 'sql' | 'log' | 'watch'>,
  { deliveryId, lastChance }: Pick<AttemptCommand, 'deliveryId' | 'lastChance'>,
  error: unknown,
): Promise<AttemptVerdict> {
  if (!lastChance) {
    log.error({ deliveryId, err: error, alarm: 'cannotBePrepared' }, 'a delivery cannot be prepared');
    await startWindow(sql, deliveryId);
    throw new InternalFailure(CANNOT_BE_PREPARED);
  }
  const { closed } = await closeDelivery(sql, deliveryId, 'expired', CANNOT_BE_PREPARED);
  if (closed !== null) {
    watch.ended(closed, 'expired');
    log.error(
      { deliveryId, err: error, alarm: 'windowLost' },
      'a delivery expired because it could not be prepared',
    );
  }
  return { kind: 'notAttempted', reason: 'closed' };
}
