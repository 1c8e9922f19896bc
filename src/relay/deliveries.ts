/** Hands deliveries over to Temporal, each to a workflow of its own. */
import { claimDeliveries } from '../db/outbox/claim-deliveries.ts';
import { type BatchesDeps, startBatches } from './batches.ts';
import type { Lane } from './lane.ts';
import { BATCH, CONCURRENCY, FULL_MS } from './limits.ts';
import type { Next } from './loop.ts';
import { type Pace, TIMES_IN_HALF_A_SECOND } from './pace.ts';
import type { Precedence } from './precedence.ts';
import { type PassOnDeps, type StartDeps, startAll } from './start-all.ts';

/** What deliveries that get their own workflows at once take. */
export interface DeliveriesDeps extends Pick<PassOnDeps, 'dispatcher' | 'limits'>, StartDeps, BatchesDeps {}

/**
 * Starts one batch of deliveries.
 * @throws what Temporal or the database threw when it is away; what was claimed is released
 */
export async function dispatchDeliveries(
  deps: DeliveriesDeps,
  pace: Pace,
  lane: Lane,
  precedence: Pick<Precedence, 'claimed'>,
): Promise<Next> {
  const { sql, dispatcher } = deps;
  const bound = pace.bound();
  const soon = bound * TIMES_IN_HALF_A_SECOND;
  const claim = await claimDeliveries(sql, {
    limit: BATCH,
    handedOver: bound,
    countTo: soon + 1,
    inFlight: deps.limits(),
  });
  const claimed = claim.deliveries;
  const full = claim.handedOver + claimed.length >= bound;
  precedence.claimed(claim.more);
  pace.observe({ ...claim, bounded: claim.more && full }, performance.now());
  lane.claimed({
    ...claim,
    many: claim.waiting > soon,
    // Few may wait for something of their own.
    late: pace.late() && claim.handedOver * 2 >= bound,
  });
  // Claimed for a batch by a relay that died: no other workflow may attempt them.
  await startBatches(
    deps,
    claimed.filter(({ batchId }) => batchId !== null),
    'fresh',
  );
  await startAll(
    deps,
    claimed.filter(({ batchId }) => batchId === null),
    {
      concurrency: CONCURRENCY,
      startOne: (delivery) => dispatcher.startDelivery(delivery),
      onStarted: (callMs) => pace.started(callMs, performance.now()),
    },
  );
  if (lane.now() === 'batch' || (claim.more && !full)) return 'more';
  if (full) return FULL_MS;
  return claim.kept ? 'soon' : 'idle';
}
