/** Tells the timers of pre-orders of changes. */
import {
  claimReleaseChanges,
  releaseChanges,
  removeChanges,
  renewChanges,
} from '../db/outbox/claim-changes.ts';
import { HAND_BACK_INTERVAL_MS, type HandBackPace } from './hand-back-pace.ts';
import type { Next } from './loop.ts';
import { passOn } from './pass-on.ts';
import type { PassOnDeps } from './start-all.ts';

/** The least per page, even while others feel it. */
const LEAST = 2;

/**
 * Passes on one small page of changes: thousands may come at once, and timers are set at a pace.
 * @throws what Temporal or the database threw when it is away; what is left is released
 */
export function dispatchReleases(
  { sql, log, dispatcher, stopping }: Pick<PassOnDeps, 'sql' | 'log' | 'dispatcher' | 'stopping'>,
  pace: HandBackPace,
): Promise<Next> {
  return passOn({
    stopping,
    limit: Math.max(LEAST, pace.next()),
    pauseMs: HAND_BACK_INTERVAL_MS,
    claim: (limit) => claimReleaseChanges(sql, limit),
    renew: (ids) => renewChanges(sql, ids),
    release: (ids) => releaseChanges(sql, ids),
    async tell({ eshopId, eshopOrderId }) {
      const before = performance.now();
      await dispatcher.signalReleaseChanged(eshopId, eshopOrderId);
      pace.observe(performance.now() - before);
    },
    note: ({ id }) => removeChanges(sql, [id]),
    refused: ({ id: changeId, eshopId }, err) =>
      log.error({ changeId, eshopId, err }, 'Temporal refused to tell the timer of a pre-order of a change'),
  });
}
