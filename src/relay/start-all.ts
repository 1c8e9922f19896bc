/**
 * Starts the workflows of claimed deliveries, whoever claimed them. Starts are made outside any transaction and are idempotent by
 * workflow id, so that a relay may die anywhere.
 */
import type { Logger } from 'pino';
import type { DeliveryWatch } from '../attempt/watch.ts';
import type { InFlightLimits } from '../db/outbox/claim.ts';
import { whileLeased } from '../db/outbox/lease.ts';
import {
  type ClaimedDelivery,
  markDispatched,
  releaseDeliveries,
  renewDeliveries,
  setAsideDeliveries,
} from '../db/outbox/outbox.ts';
import type { Pool } from '../db/pool.ts';
import { eachLimited } from '../lib/each-limited.ts';
import type { Dispatcher } from '../temporal/dispatcher.ts';
import { isRefusal } from '../temporal/refusal.ts';

/** What the loops of the relay take; each takes a part of it. */
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

/** What starting deliveries takes. */
export type StartDeps = Pick<PassOnDeps, 'sql' | 'log' | 'stopping' | 'onTaken'>;

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
  deps: StartDeps,
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
