/**
 * One attempt of each delivery of a batch, its first or a retry. Each is made as by `makeAttempt`, except that the database is asked
 * for many at once, and that deliveries not delivered are requeued.
 */
import { setMaxListeners } from 'node:events';
import { whileLeased } from '../db/outbox/lease.ts';
import { loadOfBatch } from '../db/webhooks/attempts.ts';
import {
  type BatchedDelivery,
  type BatchRun,
  countBatch,
  openInBatch,
  renewBatch,
  takeBatch,
} from '../db/webhooks/batches.ts';
import type { BatchResult } from '../domain/batch-result.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import { eitherSignal } from '../lib/either-signal.ts';
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts';
import { type OpenSpan, traced } from '../traces/traces.ts';
import { batchSpan } from './attempt-span.ts';
import { type AttemptDeps, begin, type ReadyAttempt } from './begin-attempts.ts';
import { cannotBePrepared } from './cannot-be-prepared.ts';
import { send } from './finish-attempts.ts';
import { InternalFailure, LookupsFull } from './internal-failure.ts';
import type { AttemptSignals } from './make-attempt.ts';
import type { AttemptTerms } from './outcome.ts';
import { prepareMany } from './prepare.ts';
import { createRecorder, type Recorder } from './recorder.ts';

interface BatchOrder {
  readonly batchId: string;
  readonly policy: RetryPolicy;
}

/** The most deliveries read and begun at once: their records may be large. */
const PAGE = 32;

/**
 * Makes the remaining attempts of a batch, also of one begun by another process.
 * @returns its counts; some deliveries are left if it was stopped
 * @throws the error of the database or of the interruption. Attempts without a result are made again under their numbers.
 */
export function makeBatch(
  deps: AttemptDeps,
  order: BatchOrder,
  signals: AttemptSignals,
): Promise<BatchResult> {
  const { sql, traces } = deps;
  return traced(traces, batchSpan(order.batchId), async (span) => {
    const batch = { ...(await takeBatch(sql, order.batchId)), span };
    await whileLeased(
      async () => {
        // No further attempt will begin: others may take over the rest.
        if (!signals.stop.aborted) await renewBatch(sql, batch);
      },
      () => makeAttempts(deps, order, batch, signals),
    );
    return await countBatch(sql, batch.id);
  });
}

/** A batch, and the span of this execution of it. */
interface TracedBatch extends BatchRun {
  readonly span: OpenSpan;
}

/** Each open delivery asks for its permit, begins together with others that have theirs, and is sent. */
async function makeAttempts(
  deps: AttemptDeps,
  { policy }: BatchOrder,
  batch: TracedBatch,
  { stop, abort }: AttemptSignals,
): Promise<void> {
  const terms: AttemptTerms = { policy, lastChance: false, expectedNumber: 1 };
  const interrupted = new AbortController();
  const { signal, release } = eitherSignal([stop, interrupted.signal]);
  setMaxListeners(0, signal);
  let interruption: { readonly error: unknown } | undefined;
  function interrupt(error: unknown): void {
    interruption ??= { error };
    interrupted.abort();
  }
  const recorder = createRecorder(deps, terms, batch, interrupt);
  const beginTogether = createBeginning(deps, { terms, batch, recorder, signal, interrupt });

  async function attempt(delivery: BatchedDelivery): Promise<void> {
    const deliveryId = delivery.id;
    const takenAt = performance.now();
    const permit = await deps.limits.acquire(delivery, signal);
    if (typeof permit === 'number') recorder.defer(deliveryId);
    if (typeof permit !== 'object') return;
    let accepted: boolean | null = null;
    const ready = await beginTogether(deliveryId);
    try {
      if (ready === undefined) return;
      const answered = await send(deps, { ...ready, takenAt }, abort);
      accepted = answered.result.outcome === 'success';
      recorder.answered(answered);
    } catch (error) {
      if (error instanceof LookupsFull) {
        permit.lookupsFull();
        recorder.defer(deliveryId);
      } else if (error instanceof InternalFailure) {
        deps.watch.interrupted();
        ready?.span.within(() =>
          deps.log.warn({ deliveryId, err: error }, 'attempt interrupted by a failure of Waybill itself'),
        );
        recorder.requeue(deliveryId);
      } else interrupt(error);
    } finally {
      permit.release(accepted);
    }
  }

  try {
    const open = await openInBatch(deps.sql, batch.id);
    batch.span.set({ 'messaging.batch.message_count': open.length });
    batch.span.link(open.flatMap(({ traceparent }) => traceparent ?? []));
    await Promise.all(open.map(attempt));
  } finally {
    release();
    await recorder.end();
  }
  if (interruption !== undefined) throw interruption.error;
}

interface Beginning {
  readonly terms: AttemptTerms;
  readonly batch: TracedBatch;
  readonly recorder: Recorder;
  /** Aborted: no further attempt begins. */
  readonly signal: AbortSignal;
  readonly interrupt: (error: unknown) => void;
}

/**
 * Begins deliveries, one page after the other: those that arrive meanwhile share the next.
 * @returns undefined if a delivery does not begin; it has been deferred or requeued, unless nothing begins any more
 */
function createBeginning(
  deps: AttemptDeps,
  { terms, batch, recorder, signal, interrupt }: Beginning,
): (id: string) => Promise<ReadyAttempt | undefined> {
  const prepareWith = prepareMany(deps.keys);
  const waiting: { readonly id: string; start(ready: ReadyAttempt | undefined): void }[] = [];
  let beginning = false;

  async function beginPage(ids: readonly string[]): Promise<ReadonlyMap<string, ReadyAttempt>> {
    if (signal.aborted) return new Map();
    const page = await deps.execute((by) => loadOfBatch(by, batch.id, ids));
    const { ready, refused, unprepared } = await begin(deps, page, terms, batch, prepareWith);
    for (const { delivery, error } of unprepared) {
      // It always throws. If that is the database's failure, the others of the page have begun all the same.
      await cannotBePrepared(deps, { deliveryId: delivery.id, lastChance: false }, error).catch(() => {});
    }
    const begun = new Map(ready.map((each) => [each.delivery.id, each]));
    const underWay = new Set(
      refused.flatMap(({ delivery, reason }) => (reason === 'underWay' ? [delivery.id] : [])),
    );
    // Deliveries that may not begin, and those that have changed since they were read.
    for (const id of ids) if (!begun.has(id)) recorder[underWay.has(id) ? 'defer' : 'requeue'](id);
    return begun;
  }

  async function beginWaiting(): Promise<void> {
    if (beginning) return;
    beginning = true;
    for (let page = waiting.splice(0, PAGE); page.length > 0; page = waiting.splice(0, PAGE)) {
      const begun = await beginPage(page.map(({ id }) => id)).catch(interrupt);
      const pause = yieldToEventLoop();
      for (const { id, start } of page) {
        await pause();
        start(begun?.get(id));
      }
    }
    beginning = false;
  }

  return (id) =>
    new Promise((start) => {
      waiting.push({ id, start });
      void beginWaiting();
    });
}
