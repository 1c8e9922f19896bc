/**
 * Tells the timers of pre-orders of changes.
 * @module
 */
import {
  claimReleaseChanges,
  type ReleaseChange,
  releaseChanges,
  removeChanges,
  renewChanges,
} from '../db/outbox/claim-changes.ts';
import { whileLeased } from '../db/outbox/lease.ts';
import { eachLimited } from '../each-limited.ts';
import type { PassOnDeps } from './deliveries.ts';
import { BATCH, CONCURRENCY } from './limits.ts';
import type { Next } from './loop.ts';

/**
 * Passes on one batch of changes.
 * @throws what Temporal or the database threw when it is away; what is left is released
 */
export async function dispatchReleases({ sql, dispatcher, stopping }: PassOnDeps): Promise<Next> {
  const claimed = await claimReleaseChanges(sql, BATCH);
  if (claimed.length === 0) return 'idle';
  const left = new Set(claimed.map(({ id }) => id));
  let failed = false;
  async function tell({ id, eshopId, eshopOrderId }: ReleaseChange): Promise<void> {
    // Once Temporal has not answered, the rest of the batch need not wait for its deadline as well.
    if (failed || stopping.aborted) return;
    try {
      await dispatcher.signalReleaseChanged(eshopId, eshopOrderId);
    } catch (error) {
      failed = true;
      throw error;
    }
    await removeChanges(sql, [id]);
    left.delete(id);
  }
  try {
    await whileLeased(
      () => renewChanges(sql, [...left]),
      () => eachLimited(claimed, CONCURRENCY, tell),
    );
  } finally {
    await releaseChanges(sql, [...left]);
  }
  return claimed.length === BATCH ? 'more' : 'idle';
}
