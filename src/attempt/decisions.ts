/**
 * The decisions of an attempt: whether a request may leave, how its result is recorded, and when the next attempt
 * follows. Pure, so that every case is a line of a table test.
 */
import type { BegunAttempt, DeliveryForAttempt } from '../db/deliveries/attempts.ts';
import type { AttemptRecord } from '../db/deliveries/results.ts';
import type { AttemptResult } from '../delivery/sender.ts';
import { isOpen } from '../domain/delivery-state.ts';
import { isLastCall } from '../domain/incident.ts';
import { maxAttempts, nextAttempt, type RetryPolicy, windowEnd } from '../domain/retry-policy.ts';
import { isPaused, resumesAt } from '../domain/webhook-pause.ts';
import { latenessMs } from './lateness.ts';
import type {
  AttemptCommand,
  AttemptDeferral,
  AttemptFailure,
  AttemptVerdict,
  QueueTerms,
  SkipReason,
} from './outcome.ts';
import { wasGoneAtOldUrl } from './situation.ts';

/**
 * If an attempt is late or early by no more than this, in milliseconds, a busy moment is the reason, not an outage.
 */
const MOMENT_MS = 1_000;

/** Why no request may leave now; null if one may. */
export function skipReasonOf(
  delivery: DeliveryForAttempt,
  { policy, lastChance, expectedNumber }: Omit<AttemptCommand, 'deliveryId' | 'queue'>,
): SkipReason | null {
  const { attemptsMade, nextAttemptAt, windowStartedAt, now } = delivery;
  if (!isOpen(delivery.state)) return 'closed';
  if (delivery.underWayUntil !== null) return 'underWay';
  if (delivery.deletedAt !== null) return 'deleted';
  if (delivery.operatorStop !== null) return 'stopped';
  if (attemptsMade >= maxAttempts(policy)) return 'spent';
  if (attemptsMade > 0 && nextAttemptAt === null && !wasGoneAtOldUrl(delivery)) return 'spent';
  if (!delivery.active) return 'inactive';
  if (isPaused(delivery)) return 'paused';
  if (countsFromOlderCopy(delivery, expectedNumber)) return 'notDue';
  if (lastChance || windowStartedAt === null) return null;
  return now > windowEnd(policy, windowStartedAt) ? 'windowOver' : null;
}

/** Whether the caller counts by an older copy of the records, and would make an attempt before it is due. */
function countsFromOlderCopy(delivery: DeliveryForAttempt, expectedNumber: number | null): boolean {
  const { attemptsMade, nextAttemptAt, now, generation, lastGeneration } = delivery;
  if (expectedNumber === null || expectedNumber > attemptsMade) return false;
  if (generation !== lastGeneration) return false;
  return nextAttemptAt !== null && nextAttemptAt.getTime() - now.getTime() > MOMENT_MS;
}

/**
 * Whether an attempt that comes after the end of its window was planned inside the window, and is only a moment late.
 * Then the retries are spent, and there was no outage.
 */
export function isJustOver(
  {
    nextAttemptAt,
    windowStartedAt,
    now,
  }: Pick<DeliveryForAttempt, 'nextAttemptAt' | 'windowStartedAt' | 'now'>,
  policy: RetryPolicy,
): boolean {
  if (nextAttemptAt === null || windowStartedAt === null) return false;
  // An attempt that a limit deferred past the end of the window still has its last chance.
  const planned = nextAttemptAt <= windowEnd(policy, windowStartedAt);
  return planned && now.getTime() - nextAttemptAt.getTime() < MOMENT_MS;
}

/**
 * How long a delivery whose window has begun is deferred while its webhook is inactive.
 * @returns null if the delivery's workflow has to decide, since the window has not begun or has ended
 */
export function heldWhileInactive(
  { windowStartedAt, now }: Pick<DeliveryForAttempt, 'windowStartedAt' | 'now'>,
  { policy, lastChance }: Pick<AttemptCommand, 'policy' | 'lastChance'>,
): AttemptDeferral | null {
  if (lastChance || windowStartedAt === null) return null;
  const windowEndsAt = windowEnd(policy, windowStartedAt);
  const ms = windowEndsAt.getTime() - now.getTime();
  return ms > 0 ? { kind: 'deferred', reason: 'inactive', ms, windowEndsAt } : null;
}

/**
 * How long a delivery is deferred while its webhook is paused.
 * @returns null if the queue has the delivery, and keeps it; or if its workflow has to wait, since nothing cancels
 * the activity of a last chance
 */
export function heldWhilePaused(
  { id, pausedUntil, now }: Pick<DeliveryForAttempt, 'id' | 'pausedUntil' | 'now'>,
  { queue, lastChance }: Pick<AttemptCommand, 'queue' | 'lastChance'>,
): AttemptDeferral | null {
  if (queue !== null || lastChance || pausedUntil === null) return null;
  const until = resumesAt(id, pausedUntil);
  return { kind: 'deferred', reason: 'paused', ms: until.getTime() - now.getTime(), until };
}

/** The outcome of an attempt that is not made. */
export function skipped(delivery: DeliveryForAttempt, reason: SkipReason): AttemptVerdict {
  // The success was recorded, and its caller was interrupted before it got the answer.
  if (delivery.state === 'delivered') return delivered(delivery.attemptsMade, delivery.lastStatus);
  return { kind: 'notAttempted', reason };
}

/**
 * How late an attempt began because of an outage of Waybill, in milliseconds. The first attempt is due when its
 * window starts. A change to the webhook, or the end of its pause, makes an attempt due: a delivery held until then
 * is not late. Nor is a delivery late if it waited while its process was claiming: a limit or other deliveries
 * delayed it.
 * @param claimingMs for how long the process has been claiming without a break, in milliseconds
 */
export function lostTimeMs(
  delivery: Pick<
    DeliveryForAttempt,
    'id' | 'attemptsMade' | 'windowStartedAt' | 'nextAttemptAt' | 'generationAt' | 'pausedUntil'
  >,
  startedAt: Date,
  claimingMs = 0,
): number {
  const planned = delivery.attemptsMade === 0 ? delivery.windowStartedAt : delivery.nextAttemptAt;
  if (planned === null) return 0;
  const resumed = delivery.pausedUntil === null ? null : resumesAt(delivery.id, delivery.pausedUntil);
  const waitedFor = [planned, delivery.generationAt, resumed];
  // In whole milliseconds, as it is stored.
  const lateMs = Math.round((latenessMs(waitedFor, startedAt) ?? 0) - claimingMs);
  return lateMs < MOMENT_MS ? 0 : lateMs;
}

/**
 * {@link lostTimeMs} of an attempt that begins, or is deferred, at this time. Time on operator hold is not counted as
 * queueing time.
 */
export function lateMsAt(
  delivery: DeliveryForAttempt,
  at: Date,
  queue: Pick<QueueTerms, 'claimingMs'> | null,
): number {
  return lostTimeMs(delivery, at, wasHeld(delivery) ? 0 : queue?.claimingMs);
}

/** An attempt that has its result. */
export interface FinishedAttempt {
  readonly number: number;
  readonly owner: string;
  readonly begun: BegunAttempt;
  readonly finishedAt: Date;
  readonly result: AttemptResult;
  /** Whether the webhook still has the URL of the request, and the same activation. */
  readonly stillCurrent: boolean;
}

/**
 * The record of an attempt that has its result; an internal failure has none. It asks the queue exactly once who
 * starts the workflow, since the queue acts on its own answer.
 */
export function recordOf(
  delivery: DeliveryForAttempt,
  { policy, lastChance, queue }: Pick<AttemptCommand, 'policy' | 'lastChance' | 'queue'>,
  attempt: FinishedAttempt,
): AttemptRecord {
  const { number, owner, begun, finishedAt, result } = attempt;
  const outcome = outcomeOf(result, attempt.stillCurrent);
  const lateMs = lateMsAt(delivery, begun.startedAt, queue);
  const lateInAllMs = delivery.lateBeforeMs + lateMs;
  const windowEndsAt = windowEnd(policy, begun.windowStartedAt).getTime();
  const overMs = begun.startedAt.getTime() - windowEndsAt;
  const next =
    outcome !== 'failure'
      ? { at: null, internal: false }
      : lastChance && overMs > 0
        ? // If outages and others' attempts cost less time, its receiver's own limit has deferred it past the end.
          { at: null, internal: lateInAllMs >= overMs }
        : nextAttempt(policy, {
            deliveryId: delivery.id,
            number,
            now: finishedAt.getTime(),
            windowEndsAt,
            retryAfterMs: result.retryAfterMs,
            lateInAllMs,
          });
  return {
    deliveryId: delivery.id,
    webhookId: delivery.webhookId,
    number,
    owner,
    generation: delivery.generation,
    outcome,
    finishedAt,
    durationMs: result.durationMs,
    status: result.status,
    error: result.error,
    responseExcerpt: result.responseExcerpt,
    nextAttemptAt: next.at === null ? null : new Date(next.at),
    lateMs,
    windowLost: next.at === null && next.internal,
    lastCall: isLastCall(policy, {
      deliveryId: delivery.id,
      attemptsMade: number,
      nextAttemptAt: next.at,
      windowStartedAt: begun.windowStartedAt.getTime(),
      lastAttemptAt: finishedAt.getTime(),
    }),
    plan:
      queue === null
        ? null
        : {
            claimId: queue.claimId,
            workflow: queue.handOver(outcome === 'success', number),
            firstWaitMs: policy.initialIntervalMs,
          },
  };
}

/** Whether an operator has held the delivery since its last attempt. */
function wasHeld({ operatorActions, lastAttemptAt }: DeliveryForAttempt): boolean {
  const since = lastAttemptAt?.getTime() ?? 0;
  return operatorActions?.some(({ action, at }) => action === 'resume' && Date.parse(at) > since) ?? false;
}

/** A 410 is about the URL of its request: after a change of URL or an activation it counts as an ordinary failure. */
function outcomeOf({ outcome }: AttemptResult, stillCurrent: boolean): AttemptRecord['outcome'] {
  if (outcome === 'success') return 'success';
  return outcome === 'gone' && stillCurrent ? 'gone' : 'failure';
}

/** The answer to the caller, from the record of an attempt. */
export function verdictOf(record: AttemptRecord): AttemptVerdict | AttemptFailure {
  const { number, status, error, finishedAt, nextAttemptAt } = record;
  if (error === null) return delivered(number, status);
  return { kind: 'failed', number, status, message: error, at: finishedAt, nextAttemptAt };
}

function delivered(number: number, status: number | null): AttemptVerdict {
  return { kind: 'delivered', number, status: status ?? 200 };
}
