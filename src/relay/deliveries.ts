/**
 * Hands deliveries over to Temporal. Starts are made outside any transaction and are idempotent by workflow id, so that a
 * relay may die anywhere.
 * @module
 */
import type { Logger } from 'pino';
import type { DeliveryWatch } from '../attempt/watch.ts';
import type { InFlightLimits } from '../db/outbox/claim.ts';
import { claimDeliveries } from '../db/outbox/claim-deliveries.ts';
import { whileLeased } from '../db/outbox/lease.ts';
import {
  type ClaimedDelivery,
  markDispatched,
  releaseDeliveries,
  renewDeliveries,
  setAsideDeliveries,
} from '../db/outbox/outbox.ts';
import type { Pool } from '../db/pool.ts';
import { eachLimited } from '../each-limited.ts';
import type { Dispatcher } from '../temporal/dispatcher.ts';
import { isRefusal } from '../temporal/refusal.ts';
import { type BatchesDeps, startBatches } from './batches.ts';
import type { Lane } from './lane.ts';
import { BATCH, CONCURRENCY, FULL_MS } from './limits.ts';
import type { Next } from './loop.ts';
import { type Pace, TIMES_IN_HALF_A_SECOND } from './pace.ts';
import type { Precedence } from './precedence.ts';

/** What passing on takes. */
export interface PassOnDeps {
  readonly sql: Pool;
  readonly dispatcher: Dispatcher;
  readonly log: Logger;
  /** Aborted when the relay is being stopped: what is not under way by then is given back. */
  readonly stopping: AbortSignal;
  /** What may be in flight, as this worker knows it. */
  readonly limits: () => InFlightLimits;
  /** Told when Temporal took something. */
  readonly onTaken: () => void;
  /** Told of deliveries that end without a workflow. */
  readonly watch: Pick<DeliveryWatch, 'ended'>;
}

/** What deliveries that get their own workflows at once take. */
export interface DeliveriesDeps extends PassOnDeps, BatchesDeps {}

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

/** How deliveries are started. */
interface Starting<D> {
  readonly concurrency: number;
  readonly startOne: (delivery: D) => Promise<void>;
  /** Told of each that Temporal took how long the call was, in milliseconds. */
  readonly onStarted?: (callMs: number) => void;
}

/**
 * Starts claimed deliveries, and records what became of each.
 * @throws what Temporal threw when it is away; what was not started is released
 */
export async function startAll<D extends ClaimedDelivery>(
  deps: PassOnDeps,
  claimed: readonly D[],
  how: Starting<D>,
): Promise<void> {
  if (claimed.length === 0) return;
  const { sql, log, stopping } = deps;
  const ids = claimed.map(({ id }) => id);
  const started: string[] = [];
  const left: string[] = [];
  const refused: string[] = [];
  let failure: unknown;
  async function startOne(delivery: D): Promise<void> {
    // Once Temporal has not answered, the rest of the batch need not wait for its deadline as well.
    if (failure !== undefined || stopping.aborted) return void left.push(delivery.id);
    const before = performance.now();
    try {
      await how.startOne(delivery);
      how.onStarted?.(performance.now() - before);
      started.push(delivery.id);
    } catch (error) {
      if (isRefusal(error)) {
        log.error({ deliveryId: delivery.id, err: error }, 'Temporal refused to start a delivery');
        return void refused.push(delivery.id);
      }
      failure = error;
      left.push(delivery.id);
    }
  }
  await whileLeased(
    () => renewDeliveries(sql, ids),
    () => eachLimited(claimed, how.concurrency, startOne),
  );
  await markDispatched(sql, started);
  await setAsideDeliveries(sql, refused);
  await releaseDeliveries(sql, left);
  if (failure !== undefined) throw failure;
  deps.onTaken();
}
