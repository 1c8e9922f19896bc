/**
 * The first attempts of a batch of deliveries. Each is made as `makeAttempt` makes it; what differs is that the database
 * is asked for many at once, and that what is not delivered goes back to the outbox.
 */
import { setMaxListeners } from 'node:events';
import type { Permit } from '../concurrency/limits.ts';
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
import { eitherSignal } from '../lib/either-signal.ts';
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts';
import { type OpenSpan, traced } from '../traces/traces.ts';
import { batchSpan, linkToDeliveries } from './attempt-span.ts';
import { type AttemptDeps, begin, type ReadyAttempt } from './begin-attempts.ts';
import { cannotBePrepared } from './cannot-be-prepared.ts';
import { send } from './finish-attempts.ts';
import { Crowded, InternalFailure } from './internal-failure.ts';
import type { AttemptTerms } from './outcome.ts';
import { type Prepare, prepareMany } from './prepare.ts';
import { createRecorder, type Recorder } from './recorder.ts';

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

/** Deliveries that are read and begun at once: their records may be large. */
const PAGE = 32;

/**
 * Makes what is left of a batch's first attempts, whoever began it.
 * @returns what came of it; something is left where it was stopped
 * @throws what the database or the interruption threw. What has no result by then is attempted again under its number.
 */
export function makeBatch(deps: AttemptDeps, order: BatchOrder, signals: BatchSignals): Promise<BatchCounts> {
  return traced(deps.traces, batchSpan(order.batchId), (span) => makeTraced(deps, order, signals, span));
}

async function makeTraced(
  deps: AttemptDeps,
  order: BatchOrder,
  signals: BatchSignals,
  span: OpenSpan,
): Promise<BatchCounts> {
  const { sql } = deps;
  const batch = { ...(await takeBatch(sql, order.batchId)), span };
  await whileLeased(
    async () => {
      // What no further attempt will begin is for others to look after.
      if (!signals.stop.aborted) await renewBatch(sql, batch);
    },
    () => makeAttempts(deps, order, batch, signals),
  );
  return await countBatch(sql, batch.id);
}

/** A batch, and the span of this execution of it. */
interface TracedBatch extends BatchRun {
  readonly span: OpenSpan;
}

/** An attempt that may begin. */
interface Permitted {
  readonly id: string;
  readonly permit: Permit;
}

/** Each that is open asks for its permit, and begins with others that have got theirs. */
async function makeAttempts(
  deps: AttemptDeps,
  { policy }: BatchOrder,
  batch: TracedBatch,
  { stop, abort }: BatchSignals,
): Promise<void> {
  const { sql, limits } = deps;
  const terms: AttemptTerms = { policy, lastChance: false, expectedNumber: 1 };
  const prepareWith = prepareMany(deps.keys);
  const underWay = new Set<Promise<void>>();
  const interrupted = new AbortController();
  const { signal, release } = eitherSignal([stop, interrupted.signal]);
  setMaxListeners(0, signal);
  let interruption: { readonly error: unknown } | undefined;
  function interrupt(error: unknown): void {
    interruption ??= { error };
    interrupted.abort();
  }
  const recorder = createRecorder(deps, terms, batch, interrupt);

  async function attempt(ready: ReadyAttempt, permit: Permit | undefined): Promise<void> {
    let accepted: boolean | null = null;
    try {
      const answered = await send(deps.sender, ready, abort);
      accepted = answered.result.outcome === 'success';
      recorder.answered(answered);
    } catch (error) {
      if (error instanceof Crowded) {
        permit?.crowded();
        recorder.defer(ready.delivery.id);
      } else if (error instanceof InternalFailure) {
        deps.watch.interrupted();
        const deliveryId = ready.delivery.id;
        ready.span.within(() =>
          deps.log.warn({ deliveryId, err: error }, 'attempt interrupted by a failure of Waybill itself'),
        );
        recorder.requeue(ready.delivery.id);
      } else interrupt(error);
    } finally {
      permit?.release(accepted);
    }
  }

  async function launch(page: readonly Permitted[]): Promise<void> {
    const permits = new Map(page.map(({ id, permit }) => [id, permit]));
    try {
      const ready = await beginPage(deps, [...permits.keys()], { terms, batch, prepareWith, recorder });
      const pause = yieldToEventLoop();
      for (const each of ready) {
        await pause();
        const permit = permits.get(each.delivery.id);
        permits.delete(each.delivery.id);
        const running = attempt(each, permit).finally(() => underWay.delete(running));
        underWay.add(running);
      }
    } finally {
      for (const permit of permits.values()) permit.release(null);
    }
  }

  const permitted: Permitted[] = [];
  let launching = Promise.resolve();
  async function launchPermitted(): Promise<void> {
    for (let page = permitted.splice(0, PAGE); page.length > 0; page = permitted.splice(0, PAGE)) {
      if (signal.aborted) for (const { permit } of page) permit.release(null);
      else await launch(page).catch(interrupt);
    }
  }

  async function ask(delivery: BatchedDelivery): Promise<void> {
    const permit = await limits.acquire(delivery, signal);
    if (typeof permit === 'number') recorder.defer(delivery.id);
    if (typeof permit !== 'object') return;
    permitted.push({ id: delivery.id, permit });
    launching = launching.then(launchPermitted);
    await launching;
  }

  try {
    const open = await openInBatch(sql, batch.id);
    linkToDeliveries(batch.span, open);
    await Promise.all(open.map(ask));
  } finally {
    release();
    await Promise.all(underWay);
    await recorder.end();
  }
  if (interruption !== undefined) throw interruption.error;
}

interface PageContext {
  readonly terms: AttemptTerms;
  readonly batch: TracedBatch;
  readonly prepareWith: Prepare;
  readonly recorder: Recorder;
}

/** Begins what may begin; requeues what may not, and what has changed in between. */
async function beginPage(
  deps: AttemptDeps,
  ids: readonly string[],
  { terms, batch, prepareWith, recorder }: PageContext,
): Promise<readonly ReadyAttempt[]> {
  const page = await loadOfBatch(deps.sql, batch.id, ids);
  const { ready, unprepared } = await begin(deps, page, terms, batch, prepareWith);
  for (const { delivery, error } of unprepared) {
    await cannotBePrepared(deps, { deliveryId: delivery.id, lastChance: false }, error).catch(
      (fault: unknown) => {
        if (!(fault instanceof InternalFailure)) throw fault;
      },
    );
  }
  const readyIds = new Set(ready.map(({ delivery }) => delivery.id));
  for (const id of ids) if (!readyIds.has(id)) recorder.requeue(id);
  return ready;
}
