/**
 * One attempt of one delivery, from its number to its record (docs/interface.md, D1–D6). It knows the database and the wire, but not
 * its caller.
 *
 * Module attempt, which imports receiver, concurrency, db, delivery, domain, lib, secrets, traces. Begin: this file for one delivery,
 * `make-batch.ts` for a batch.
 */
import { countBehind } from '../db/outbox/order.ts';
import type { Pool } from '../db/pool.ts';
import { type DeliveryForAttempt, loadForAttempt } from '../db/webhooks/attempts.ts';
import { deferAttempt, spendRetries } from '../db/webhooks/deliveries.ts';
import { type AttemptDeps, type Beginnings, begin } from './begin-attempts.ts';
import { cannotBePrepared } from './cannot-be-prepared.ts';
import { answerTo, heldWhileInactive, justMissed, refusalOf, refused } from './decisions.ts';
import { record, send } from './finish-attempts.ts';
import { InternalFailure, LookupsFull } from './internal-failure.ts';
import type { AttemptOrder, AttemptOutcome, Refusal } from './outcome.ts';

/** Signals that end attempts early, and the report on their permits. */
export interface AttemptSignals {
  /** No further attempt begins; those under way finish. */
  readonly stop: AbortSignal;
  /** The requests under way are aborted too and stay without a result. Left out: they end by their own time-out. */
  readonly abort?: AbortSignal;
  /** Called when an attempt asks for its permit, and when it gets it. */
  readonly onPermit?: (it: 'isAskedFor' | 'isThere') => void;
}

/**
 * Makes one attempt and records it, even before it is due: an operator who resets the activity gets one at once. Only a
 * caller behind the records (`expectedNumber`) does not.
 * @throws InternalFailure if Waybill itself failed; AbortError when aborted; the database's error when it is unreachable. None of these
 * uses up the attempt.
 */
export async function makeAttempt(
  deps: AttemptDeps,
  order: AttemptOrder,
  signals?: AttemptSignals,
): Promise<AttemptOutcome> {
  try {
    return await makeOrDefer(deps, order, signals);
  } catch (error) {
    deps.watch.interrupted();
    const { deliveryId } = order;
    deps.log.warn({ deliveryId, err: error }, 'attempt interrupted by a failure of Waybill itself');
    throw error;
  }
}

async function makeOrDefer(
  deps: AttemptDeps,
  order: AttemptOrder,
  signals?: AttemptSignals,
): Promise<AttemptOutcome> {
  const { sql } = deps;
  const takenAt = performance.now();
  const delivery = await deps.execute((by) => loadForAttempt(by, order.deliveryId));
  if (delivery === undefined) return { kind: 'notAttempted', reason: 'closed' };
  const refusal = refusalOf(delivery, order);
  if (refusal !== null) return await refuse(sql, delivery, order, refusal);
  signals?.onPermit?.('isAskedFor');
  const permit = await deps.limits.acquire(delivery, signals?.stop);
  if (permit === undefined) throw new InternalFailure('This attempt was interrupted before it began.');
  if (typeof permit === 'number') return await defer(sql, delivery, order, permit);
  signals?.onPermit?.('isThere');
  let accepted: boolean | null = null;
  try {
    const outcome = await attempt(deps, order, { delivery, takenAt }, signals?.abort);
    if (outcome.kind === 'delivered' || outcome.kind === 'failed') accepted = outcome.kind === 'delivered';
    return outcome;
  } catch (error) {
    if (!(error instanceof LookupsFull)) throw error;
    return await defer(sql, delivery, order, permit.lookupsFull());
  } finally {
    permit.release(accepted);
  }
}

/** Defers an attempt that the limits do not allow now. */
async function defer(
  sql: Pool,
  delivery: DeliveryForAttempt,
  { lastChance }: AttemptOrder,
  ms: number,
): Promise<AttemptOutcome> {
  await deferAttempt(sql, delivery.id, delivery.attemptsMade, ms);
  // The workflow has no wait to return to in the last chance. Otherwise it waits, and counts again.
  const reason = 'concurrencyLimit';
  return lastChance ? { kind: 'deferred', reason, ms } : refused(delivery, reason);
}

async function attempt(
  deps: AttemptDeps,
  order: AttemptOrder,
  { delivery, takenAt }: { readonly delivery: DeliveryForAttempt; readonly takenAt: number },
  signal: AbortSignal | undefined,
): Promise<AttemptOutcome> {
  const { sql } = deps;
  const beginnings = await beginOne(deps, order, delivery);
  if (beginnings === undefined) return { kind: 'notAttempted', reason: 'closed' };
  const {
    ready: [ready],
    refused: [refusal],
    unprepared: [unprepared],
  } = beginnings;
  if (refusal !== undefined) {
    // This process makes it, but the records show no owner: a caller that waits for an ownership to end would not wait at all.
    if (refusal.reason === 'underWay' && refusal.delivery.underWayUntil === null)
      throw new InternalFailure('This attempt is under way already.');
    return await refuse(sql, refusal.delivery, order, refusal.reason);
  }
  if (unprepared !== undefined) return await cannotBePrepared(deps, order, unprepared.error);
  if (ready === undefined) throw new InternalFailure('This attempt already has its result.');

  const answered = await send(deps, { ...ready, takenAt }, signal);
  const [recorded] = await record(deps, [answered], order, null);
  // It ended elsewhere in the meantime: the caller reads its state again.
  if (recorded?.changed !== true) return { kind: 'notAttempted', reason: 'closed' };
  const answer = answerTo(recorded.record);
  if (answer.kind !== 'failed' || delivery.ordering === 'none') return answer;
  // For operators alone.
  return { ...answer, behind: await countBehind(sql, delivery.id).catch(() => 0) };
}

/** @returns undefined if the delivery no longer exists */
async function beginOne(
  deps: AttemptDeps,
  order: AttemptOrder,
  read: DeliveryForAttempt,
): Promise<Beginnings | undefined> {
  const beginnings = await begin(deps, [read], order, null);
  if (beginnings.outdated.length === 0) return beginnings;
  // The webhook changed in between.
  const now = await deps.execute((by) => loadForAttempt(by, order.deliveryId));
  return now === undefined ? undefined : await begin(deps, [now], order, null);
}

async function refuse(
  sql: Pool,
  delivery: DeliveryForAttempt,
  order: AttemptOrder,
  reason: Refusal,
): Promise<AttemptOutcome> {
  if (reason === 'inactive') return heldWhileInactive(delivery, order) ?? refused(delivery, reason);
  if (reason !== 'windowOver' || !justMissed(delivery)) return refused(delivery, reason);
  await spendRetries(sql, delivery.id, delivery.attemptsMade);
  return refused(delivery, 'spent');
}
