/**
 * The first attempts of a batch of deliveries. Each is made as `makeAttempt` makes it; what differs is that the database
 * is asked for many at once, and that what is not delivered goes back to the outbox.
 * @module
 */
import { whileLeased } from '../db/outbox/lease.ts';
import { type BatchRun, type DeliveryForAttempt, loadOfBatch } from '../db/webhooks/attempts.ts';
import { type BatchCounts, countBatch, renewBatch, takeBatch } from '../db/webhooks/batches.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import { type AttemptDeps, begin, type ReadyAttempt } from './begin-attempts.ts';
import { cannotBePrepared } from './cannot-be-prepared.ts';
import { send } from './finish-attempts.ts';
import type { AttemptTerms } from './outcome.ts';
import { OwnFault } from './own-fault.ts';
import { type Prepare, prepareMany } from './prepare.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import type { Slots } from './slots.ts';

/** What batches receive. */
export interface BatchDeps extends AttemptDeps {
  readonly slots: Slots;
}

/** Which batch is to be made. */
export interface BatchOrder {
  readonly batchId: string;
  readonly policy: RetryPolicy;
}

/** How a batch is ended early. */
export interface BatchSignals {
  /** No further attempts begin; those under way finish. */
  readonly stop: AbortSignal;
  /** The requests under way are aborted too, and stay without a result. */
  readonly abort: AbortSignal;
}

/** Deliveries that are read at once: their records may be large. */
const PAGE = 64;
/** A delivery whose webhook changes between reading and beginning is read again this often. */
const ROUNDS = 3;

/**
 * Makes what is left of a batch's first attempts, whoever began it.
 * @returns what came of it; something is left where it was stopped
 * @throws what the database or the interruption threw. What has no result by then is attempted again under its number.
 */
export async function makeBatch(
  deps: BatchDeps,
  order: BatchOrder,
  signals: BatchSignals,
): Promise<BatchCounts> {
  const { sql } = deps;
  deps.slots.begins(order.batchId);
  const batch = await takeBatch(sql, order.batchId);
  for (let round = 0; round < ROUNDS && !signals.stop.aborted; round += 1) {
    await whileLeased(
      async () => {
        // What no further attempt will begin is for others to look after.
        if (!signals.stop.aborted) await renewBatch(sql, batch);
      },
      () => makeRound(deps, order, batch, signals),
    );
    const counts = await countBatch(sql, batch.id);
    if (counts.left === 0) return counts;
  }
  const counts = await countBatch(sql, batch.id);
  if (counts.left > 0 && !signals.stop.aborted) {
    throw new OwnFault(`${counts.left} deliveries of a batch could not be begun.`);
  }
  return counts;
}

/** Goes once through all that is open, as slots become free. */
async function makeRound(
  deps: BatchDeps,
  { policy }: BatchOrder,
  batch: BatchRun,
  { stop, abort }: BatchSignals,
): Promise<void> {
  const { sql, slots } = deps;
  const terms: AttemptTerms = { policy, lastChance: false, expectedNumber: 1 };
  const recorder = createRecorder(deps, terms, batch);
  const prepareWith = prepareMany(deps.keys);
  const underWay = new Set<Promise<void>>();
  let interruption: { readonly error: unknown } | undefined;

  async function attempt(ready: ReadyAttempt): Promise<void> {
    try {
      recorder.answered(await send(deps.sender, ready, abort));
    } catch (error) {
      if (error instanceof OwnFault) {
        deps.log.warn(
          { deliveryId: ready.delivery.id, err: error },
          'attempt interrupted by an outage of ours',
        );
        recorder.handBack(ready.delivery.id);
      } else interruption ??= { error };
    } finally {
      slots.release(1);
    }
  }

  function launch(ready: readonly ReadyAttempt[]): void {
    for (const each of ready) {
      const running = attempt(each).finally(() => underWay.delete(running));
      underWay.add(running);
    }
  }

  let after: string | null = null;
  try {
    while (interruption === undefined) {
      const taken = await slots.take(PAGE, stop);
      if (taken === 0) break;
      let ready: readonly ReadyAttempt[] = [];
      let last: string | undefined;
      try {
        const page: DeliveryForAttempt[] = await loadOfBatch(sql, batch.id, { after, limit: taken });
        last = page.at(-1)?.id;
        ready = await beginPage(deps, page, { terms, batch, prepareWith, recorder });
      } finally {
        slots.release(taken - ready.length);
      }
      launch(ready);
      if (last === undefined) break;
      after = last;
      await recorder.room();
    }
  } finally {
    await Promise.all(underWay);
    await recorder.end();
  }
  if (interruption !== undefined) throw interruption.error;
}

interface PageContext {
  readonly terms: AttemptTerms;
  readonly batch: BatchRun;
  readonly prepareWith: Prepare;
  readonly recorder: Recorder;
}

/** Begins what may begin; hands back what may not. What changed in between is left to the next round. */
async function beginPage(
  deps: BatchDeps,
  page: readonly DeliveryForAttempt[],
  { terms, batch, prepareWith, recorder }: PageContext,
): Promise<readonly ReadyAttempt[]> {
  const { ready, refused, unprepared } = await begin(deps, page, terms, batch, prepareWith);
  for (const { delivery } of refused) recorder.handBack(delivery.id);
  for (const { delivery, error } of unprepared) {
    await cannotBePrepared(deps, { deliveryId: delivery.id, lastChance: false }, error).catch(
      (fault: unknown) => {
        if (!(fault instanceof OwnFault)) throw fault;
      },
    );
    recorder.handBack(delivery.id);
  }
  return ready;
}
