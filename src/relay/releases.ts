/**
 * Tells the timers of pre-orders of changes.
 * @module
 */
import {
  claimReleaseChanges,
  releaseChanges,
  removeChanges,
  renewChanges,
} from '../db/outbox/claim-changes.ts';
import type { PassOnDeps } from './deliveries.ts';
import type { Next } from './loop.ts';
import { passOn } from './pass-on.ts';

/**
 * Passes on one page of changes.
 * @throws what Temporal or the database threw when it is away; what is left is released
 */
export function dispatchReleases({ sql, log, dispatcher, stopping }: PassOnDeps): Promise<Next> {
  return passOn({
    stopping,
    claim: (limit) => claimReleaseChanges(sql, limit),
    renew: (ids) => renewChanges(sql, ids),
    release: (ids) => releaseChanges(sql, ids),
    tell: ({ eshopId, eshopOrderId }) => dispatcher.signalReleaseChanged(eshopId, eshopOrderId),
    note: ({ id }) => removeChanges(sql, [id]),
    refused: ({ id: changeId, eshopId }, err) =>
      log.error({ changeId, eshopId, err }, 'Temporal refused to tell the timer of a pre-order of a change'),
  });
}
