/**
 * The first attempts of a batch of deliveries. Each is made as `makeAttempt` makes it; what differs is that the database
 * is asked for many at once, and that what is not delivered goes back to the outbox.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { whileLeased } from '../db/outbox/lease.ts';
import { loadOfBatch } from '../db/webhooks/attempts.ts';
import {
  type BatchCounts,
  type BatchedDelivery,
  type BatchRun,
  countBatch,
  openInBatch,
  renewBatch,
  takeBatch,
} from '../db/webhooks/batches.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import { type OpenSpan, traced } from '../traces/traces.ts';
import { batchSpan, linkToDeliveries } from './attempt-span.ts';
import { type AttemptDeps, begin, type ReadyAttempt } from './begin-attempts.ts';
import { createBreath } from './breathe.ts';
import { cannotBePrepared } from './cannot-be-prepared.ts';
import { send } from './finish-attempts.ts';
import { Crowded, InternalFailure } from './internal-failure.ts';
import type { AttemptTerms } from './outcome.ts';
import { type Prepare, prepareMany } from './prepare.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import type { BatchRooms, Place } from './rooms.ts';
import type { Slots } from './slots.ts';

/** What batches receive. */
export interface BatchDeps extends AttemptDeps {
  readonly slots: Slots;
  readonly batchRooms: BatchRooms;
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

/**
 * Deliveries that are read and begun at once: their records may be large. The first page is small: it has one of each e-shop
 * before the second of any, and who has little to deliver does not wait for who has much.
 */
const PAGE = 32;
const FIRST_PAGE = 8;
/** Before those whose receivers have as much under way as they take are looked at again, in milliseconds. */
const FULL_MS = 10;
/** A delivery whose webhook changes between reading and beginning is read again this often. */
const ROUNDS = 3;

/**
 * Makes what is left of a batch's first attempts, whoever began it.
 * @returns what came of it; something is left where it was stopped
 * @throws what the database or the interruption threw. What has no result by then is attempted again under its number.
 */
export function makeBatch(deps: BatchDeps, order: BatchOrder, signals: BatchSignals): Promise<BatchCounts> {
  return traced(deps.traces, batchSpan(order.batchId), (span) => makeTraced(deps, order, signals, span));
}

async function makeTraced(
  deps: BatchDeps,
  order: BatchOrder,
  signals: BatchSignals,
  span: OpenSpan,
): Promise<BatchCounts> {
  const { sql } = deps;
  const batch = { ...(await takeBatch(sql, order.batchId)), span };
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
    throw new InternalFailure(`${counts.left} deliveries of a batch could not be begun.`);
  }
  return counts;
}

/** A batch, and the span of this execution of it. */
interface TracedBatch extends BatchRun {
  readonly span: OpenSpan;
}

/** An attempt that may begin: its receiver has room for it. */
interface Admitted {
  readonly id: string;
  readonly place: Place;
}

/** Goes once through all that is open, as slots and places become free. */
async function makeRound(
  deps: BatchDeps,
  { policy }: BatchOrder,
  batch: TracedBatch,
  { stop, abort }: BatchSignals,
): Promise<void> {
  const { sql, slots } = deps;
  const terms: AttemptTerms = { policy, lastChance: false, expectedNumber: 1 };
  const recorder = createRecorder(deps, terms, batch);
  const prepareWith = prepareMany(deps.keys);
  const underWay = new Set<Promise<void>>();
  let interruption: { readonly error: unknown } | undefined;

  async function attempt(ready: ReadyAttempt, place: Place | undefined): Promise<void> {
    let accepted: boolean | null = null;
    try {
      const answered = await send(deps.sender, ready, abort);
      accepted = answered.result.outcome === 'success';
      recorder.answered(answered);
    } catch (error) {
      if (error instanceof Crowded) {
        place?.crowded();
        recorder.putBack(ready.delivery.id);
      } else if (error instanceof InternalFailure) {
        deps.watch.interrupted();
        const deliveryId = ready.delivery.id;
        ready.span.within(() =>
          deps.log.warn({ deliveryId, err: error }, 'attempt interrupted by a failure of Waybill itself'),
        );
        recorder.handBack(ready.delivery.id);
      } else interruption ??= { error };
    } finally {
      place?.leave(accepted);
      slots.ended();
    }
  }

  /** @returns how many slots are in use for them from now on */
  async function launch(admitted: readonly Admitted[]): Promise<number> {
    const places = new Map(admitted.map(({ id, place }) => [id, place]));
    try {
      const ready = await beginPage(deps, [...places.keys()], { terms, batch, prepareWith, recorder });
      const breathe = createBreath();
      for (const each of ready) {
        await breathe();
        const place = places.get(each.delivery.id);
        places.delete(each.delivery.id);
        const running = attempt(each, place).finally(() => underWay.delete(running));
        underWay.add(running);
      }
      return ready.length;
    } finally {
      for (const place of places.values()) place.leave(null);
    }
  }

  try {
    let queue: readonly BatchedDelivery[] = await openInBatch(sql, batch.id);
    linkToDeliveries(batch.span, queue);
    let page = FIRST_PAGE;
    while (interruption === undefined && queue.length > 0) {
      slots.holds(batch.id, queue.length);
      const taken = await slots.take(Math.min(page, queue.length), stop);
      if (taken === 0) break;
      page = PAGE;
      const { admitted, waiting, later } = admit(deps.batchRooms, queue, taken);
      for (const { id } of later) recorder.putBack(id);
      queue = waiting;
      let used = 0;
      try {
        used = await launch(admitted);
      } finally {
        slots.release(taken - used);
      }
      if (admitted.length === 0 && queue.length > 0) await sleep(FULL_MS);
      await recorder.room();
    }
  } finally {
    slots.ends(batch.id);
    await Promise.all(underWay);
    await recorder.end();
  }
  if (interruption !== undefined) throw interruption.error;
}

/** Who finds a place, who waits here for one, and who goes back to the queue, since it would be for long. */
function admit(rooms: BatchRooms, queue: readonly BatchedDelivery[], most: number) {
  const admitted: Admitted[] = [];
  const waiting: BatchedDelivery[] = [];
  const later: BatchedDelivery[] = [];
  for (const delivery of queue) {
    if (admitted.length >= most) {
      waiting.push(delivery);
      continue;
    }
    const place = rooms.admit(delivery);
    if (place === 'soon') waiting.push(delivery);
    else if (place === 'later') later.push(delivery);
    else admitted.push({ id: delivery.id, place });
  }
  return { admitted, waiting, later };
}

interface PageContext {
  readonly terms: AttemptTerms;
  readonly batch: TracedBatch;
  readonly prepareWith: Prepare;
  readonly recorder: Recorder;
}

/** Begins what may begin; hands back what may not. What changed in between is left to the next round. */
async function beginPage(
  deps: BatchDeps,
  ids: readonly string[],
  { terms, batch, prepareWith, recorder }: PageContext,
): Promise<readonly ReadyAttempt[]> {
  const page = await loadOfBatch(deps.sql, batch.id, ids);
  const { ready, refused, unprepared } = await begin(deps, page, terms, batch, prepareWith);
  for (const { delivery } of refused) recorder.handBack(delivery.id);
  for (const { delivery, error } of unprepared) {
    await cannotBePrepared(deps, { deliveryId: delivery.id, lastChance: false }, error).catch(
      (fault: unknown) => {
        if (!(fault instanceof InternalFailure)) throw fault;
      },
    );
    recorder.handBack(delivery.id);
  }
  return ready;
}
