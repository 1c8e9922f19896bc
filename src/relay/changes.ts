/**
 * Tells Temporal of changes: of a webhook, to its open deliveries; of a pre-order's release, to its timer.
 * @module
 */
import {
  type ClaimedChange,
  claimChanges,
  openDeliveries,
  releaseChanges,
  removeChange,
  renewChanges,
} from '../db/outbox/outbox.ts';
import { eachLimited } from '../each-limited.ts';
import type { PassOnDeps } from './deliveries.ts';
import { whileLeased } from './lease.ts';
import { BATCH, CONCURRENCY } from './limits.ts';

/** Open deliveries of a webhook per query. */
const PAGE = 500;

/**
 * Passes on one batch of changes.
 * @throws what Temporal or the database threw when it is away; what is left is released
 * @returns whether there may be more
 */
export async function dispatchChanges(deps: PassOnDeps): Promise<boolean> {
  const { sql } = deps;
  const claimed = await claimChanges(sql, BATCH);
  if (claimed.length === 0) return false;
  const ids = claimed.map(({ id }) => id);
  try {
    await whileLeased(
      () => renewChanges(sql, ids),
      async () => {
        for (const change of claimed) {
          await dispatchChange(deps, change);
          await removeChange(sql, change.id);
        }
      },
    );
  } catch (error) {
    await releaseChanges(sql, ids);
    throw error;
  }
  return claimed.length === BATCH;
}

async function dispatchChange({ sql, dispatcher }: PassOnDeps, change: ClaimedChange): Promise<void> {
  if (change.kind === 'orderReleaseChanged') {
    await dispatcher.signalReleaseChanged(change.eshopId, change.eshopOrderId);
    return;
  }
  let after: string | null = null;
  for (;;) {
    const page: string[] = await openDeliveries(sql, change.webhookId, after, PAGE);
    await eachLimited(page, CONCURRENCY, (id) => dispatcher.signalWebhookChanged(id));
    after = page.at(-1) ?? null;
    if (after === null) return;
  }
}
