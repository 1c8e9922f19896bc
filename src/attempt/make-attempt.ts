/**
 * One attempt of one delivery, from its number to its record (docs/interface.md, D1–D6). This module knows the
 * database and the wire. It does not know its caller, which is the queue, or the delivery's workflow once Temporal
 * has one.
 *
 * Module attempt, which imports receiver, concurrency, db, delivery, domain, lib, secrets, traces. Begin: this file.
 */
import type { MadeRequest, Wait } from '../concurrency/limits.ts';
import type { DeliveryForAttempt } from '../db/deliveries/attempts.ts';
import {
  closeDelivery,
  deferAttempt,
  deferBehindOthers,
  exhaustRetries,
  startWindow,
} from '../db/deliveries/deliveries.ts';
import { isBehindOthers } from '../db/outbox/keep-ordering.ts';
import { type AttemptDeps, type Beginning, begin } from './begin-attempt.ts';
import {
  heldWhileInactive,
  heldWhilePaused,
  isJustOver,
  lateMsAt,
  skipped,
  skipReasonOf,
  verdictOf,
} from './decisions.ts';
import { record, send } from './finish-attempt.ts';
import { InternalFailure, LookupsFull, Stopping } from './internal-failure.ts';
import type { AttemptCommand, AttemptOutcome, AttemptVerdict, SkipReason } from './outcome.ts';

/** Signals that end attempts early, and the report on their permits. */
export interface AttemptSignals {
  /** No further attempt begins; attempts under way finish. */
  readonly stop: AbortSignal;
  /** Aborts requests under way too; they stay without a result. Left out: requests end by their own time-out. */
  readonly abort?: AbortSignal;
  /** Called when an attempt asks for its permit, and when it gets it. */
  readonly onPermit?: (permit: 'requested' | 'granted') => void;
}

/**
 * Makes one attempt and records it, even before it is due: an operator who resets the activity gets an attempt at
 * once. A caller whose `expectedNumber` is behind the records gets none.
 * @throws InternalFailure if Waybill itself failed; AbortError when aborted; the database's error when it is
 * unreachable. None of these uses up the attempt.
 */
export async function makeAttempt(
  deps: AttemptDeps,
  command: AttemptCommand,
  signals?: AttemptSignals,
): Promise<AttemptOutcome> {
  try {
    return await makeOrDefer(deps, command, signals);
  } catch (error) {
    if (error instanceof Stopping) throw error;
    deps.watch.interrupted({ deliveryId: command.deliveryId, error });
    throw error;
  }
}

/**
 * How soon a delivery that has its workflow looks again whether it is its turn in its record, in milliseconds. Too
 * short: steps of Temporal without result. Too long: it goes later than those before it allow.
 */
const TURN_MS = 10_000;

async function makeOrDefer(
  deps: AttemptDeps,
  command: AttemptCommand,
  signals?: AttemptSignals,
): Promise<AttemptOutcome> {
  // There might be room to record the beginning of the attempt but not its result, and it would be repeated.
  if (deps.isDiskFull()) throw new InternalFailure("The database's disk is full.");
  const takenAt = performance.now();
  const delivery = await deps.statements.load(command.deliveryId);
  if (delivery === undefined) return { kind: 'notAttempted', reason: 'closed' };
  const reason = skipReasonOf(delivery, command);
  if (reason !== null) return await skip(deps, delivery, command, reason);
  if (command.queue === null && (await isBehindOthers(deps.sql, delivery))) {
    await deferBehindOthers(deps.sql, delivery.id, TURN_MS);
    return command.lastChance
      ? skipped(delivery, 'order')
      : { kind: 'deferred', reason: 'order', ms: TURN_MS };
  }
  signals?.onPermit?.('requested');
  const permit = await deps.limits.acquire(delivery, signals?.stop);
  if (permit === undefined) throw new Stopping('This attempt was interrupted before it began.');
  if ('ms' in permit) return await defer(deps, delivery, command, permit);
  signals?.onPermit?.('granted');
  let request: MadeRequest | null = null;
  const onRecorded = (made: MadeRequest) => {
    request = made;
  };
  try {
    return await beginAndSend(deps, command, { delivery, takenAt, onRecorded }, signals?.abort);
  } catch (error) {
    if (!(error instanceof LookupsFull)) throw error;
    return await defer(deps, delivery, command, permit.lookupsFull());
  } finally {
    permit.release(request);
  }
}

/**
 * Defers an attempt that the limits do not allow now. An attempt of the queue is deferred by the queue itself. Either
 * way the attempt is planned again, so its lateness so far is counted first.
 */
async function defer(
  { sql }: Pick<AttemptDeps, 'sql'>,
  delivery: DeliveryForAttempt,
  { lastChance, queue }: AttemptCommand,
  wait: Wait,
): Promise<AttemptOutcome> {
  const { ms, ofReceiver } = wait;
  const lateMs = delivery.attemptsMade === 0 ? 0 : lateMsAt(delivery, delivery.now, queue);
  if (queue === null) await deferAttempt(sql, delivery, { ms, lostMs: lateMs + (ofReceiver ? 0 : ms) });
  else if (lateMs > 0) await deferAttempt(sql, delivery, { ms: 0, lostMs: lateMs });
  // In a last chance the activity itself waits. In any other attempt the workflow waits, and counts again.
  const reason = 'concurrencyLimit';
  return lastChance ? { kind: 'deferred', reason, ms } : skipped(delivery, reason);
}

/** An attempt that has its permit. */
interface Permitted {
  readonly delivery: DeliveryForAttempt;
  readonly takenAt: number;
  /** Called with the request, once this result, or another process's, is recorded. */
  readonly onRecorded: (request: MadeRequest) => void;
}

/** The attempt itself. */
async function beginAndSend(
  deps: AttemptDeps,
  command: AttemptCommand,
  { delivery, takenAt, onRecorded }: Permitted,
  signal: AbortSignal | undefined,
): Promise<AttemptOutcome> {
  const { read, beginning } = await beginAsItIs(deps, delivery, command);
  switch (beginning.kind) {
    case 'outdated':
      throw new InternalFailure('This attempt already has its result, or its webhook keeps changing.');
    case 'unprepared':
      return await cannotBePrepared(deps, command, beginning.error);
    case 'skipped':
      // This process is making the attempt, but the records show no owner: a caller that waits for the ownership to
      // end would not wait at all.
      if (beginning.reason === 'underWay' && read.underWayUntil === null)
        throw new InternalFailure('This attempt is under way already.');
      return await skip(deps, read, command, beginning.reason);
    case 'ready':
  }
  const sentAt = performance.now();
  const answered = await send(deps, { ...beginning.attempt, takenAt }, signal);
  const request = { accepted: answered.result.outcome === 'success', ms: performance.now() - sentAt };
  const recorded = await record(deps, answered, command);
  onRecorded(request);
  if (recorded !== null) return verdictOf(recorded);
  // The delivery has ended elsewhere, another owner has the attempt, or the answer of the statement was lost.
  const ended = await deps.statements.load(delivery.id);
  return ended === undefined ? { kind: 'notAttempted', reason: 'closed' } : skipped(ended, 'closed');
}

/** Begins the attempt. If the webhook has changed since the delivery was read, reads the delivery once more. */
async function beginAsItIs(
  deps: AttemptDeps,
  delivery: DeliveryForAttempt,
  command: AttemptCommand,
): Promise<{ readonly read: DeliveryForAttempt; readonly beginning: Beginning }> {
  const beginning = await begin(deps, delivery, command);
  if (beginning.kind !== 'outdated') return { read: delivery, beginning };
  const read = await deps.statements.load(command.deliveryId);
  if (read === undefined) return { read: delivery, beginning: { kind: 'skipped', reason: 'closed' } };
  return { read, beginning: await begin(deps, read, command) };
}

async function skip(
  { sql }: Pick<AttemptDeps, 'sql'>,
  delivery: DeliveryForAttempt,
  command: AttemptCommand,
  reason: SkipReason,
): Promise<AttemptOutcome> {
  if (reason === 'paused') return heldWhilePaused(delivery, command) ?? skipped(delivery, reason);
  if (reason === 'inactive') return heldWhileInactive(delivery, command) ?? skipped(delivery, reason);
  if (reason !== 'windowOver' || !isJustOver(delivery, command.policy)) return skipped(delivery, reason);
  await exhaustRetries(sql, delivery.id, delivery.attemptsMade);
  return skipped(delivery, 'spent');
}

const CANNOT_BE_PREPARED = 'Waybill cannot prepare this delivery; the receiver is not at fault';

/**
 * Call this when no request can be made from the stored records. The reason may be temporary: a worker may not know a
 * new key yet. So the delivery is retried until its window ends. Then it expires by an internal failure, and the
 * webhook stays as it is.
 * @throws InternalFailure unless it is the delivery's last chance
 */
export async function cannotBePrepared(
  { sql, watch }: Pick<AttemptDeps, 'sql' | 'watch'>,
  { deliveryId, lastChance }: Pick<AttemptCommand, 'deliveryId' | 'lastChance'>,
  error: unknown,
): Promise<AttemptVerdict> {
  if (!lastChance) {
    watch.alarmed({ alarm: 'cannotBePrepared', deliveryId, error });
    await startWindow(sql, deliveryId);
    throw new InternalFailure(CANNOT_BE_PREPARED);
  }
  const { closed } = await closeDelivery(sql, deliveryId, 'expired', { error: CANNOT_BE_PREPARED });
  if (closed !== null) {
    watch.ended(closed, 'expired');
    watch.alarmed({ alarm: 'windowLost', deliveryId, error });
  }
  return { kind: 'notAttempted', reason: 'closed' };
}
