/**
 * The present situation of a delivery, which decides its next step. Pure; times in milliseconds since 1970.
 */
import type { DeliveryForAttempt } from '../db/deliveries/attempts.ts';
import { type FinalState, isOpen, type StoredState } from '../domain/delivery-state.ts';
import { type OperatorHold, operatorHoldOf } from '../domain/operator-action.ts';
import { maxAttempts, type RetryPolicy, windowEnd } from '../domain/retry-policy.ts';
import { isPaused, resumesAt } from '../domain/webhook-pause.ts';

/** The reason why no further attempt is due. */
type ExhaustedReason =
  /** The last attempt the policy allows was made and failed. */
  | 'retriesExhausted'
  /** The receiver answered 410 Gone. */
  | 'gone'
  /** The window ended during an outage of Waybill; the last chance failed too. */
  | 'windowLost';

/** The present state of a delivery and its webhook. */
export type DeliverySituation = { readonly open: false; readonly state: FinalState } | OpenSituation;

export interface OpenSituation {
  readonly open: true;
  /** When the situation was read. All times here are by the database's clock. */
  readonly readAt: number;
  readonly webhook: 'active' | 'inactive' | 'deleted';
  /** When the delivery goes on after the pause of its webhook; absent if the webhook is not paused. */
  readonly pausedUntil?: number;
  /** The latest time until which the owner of the next attempt keeps it; absent if the attempt has no owner. */
  readonly underWayUntil?: number;
  /** The webhook was activated or got another URL since the last attempt: an attempt is due at once. */
  readonly generationChanged: boolean;
  readonly attemptsMade: number;
  readonly spent: ExhaustedReason | null;
  /** null before the first attempt or hold. */
  readonly windowEndsAt: number | null;
  readonly nextAttemptAt: number | null;
  /** "HTTP 503 from shop.example after 212 ms"; null before the first failure. */
  readonly lastError: string | null;
  /** The operator hold; null if there is none. */
  readonly operator: OperatorHold | null;
  /** The host in its webhook's URL. */
  readonly receiverHost: string | null;
  /** Whether operator holds make up more than half of the time that the delivery lost: that is no outage. */
  readonly operatorHeld: boolean;
}

/** @param delivery as it was read; undefined if it no longer exists */
export function situationOf(
  delivery: DeliveryForAttempt | undefined,
  policy: RetryPolicy,
): DeliverySituation {
  if (delivery === undefined) return { open: false, state: 'canceled' };
  if (!isOpen(delivery.state)) return { open: false, state: delivery.state };
  const windowEndsAt =
    delivery.windowStartedAt === null ? null : windowEnd(policy, delivery.windowStartedAt).getTime();
  return {
    open: true,
    readAt: delivery.now.getTime(),
    webhook: delivery.deletedAt !== null ? 'deleted' : delivery.active ? 'active' : 'inactive',
    ...(delivery.pausedUntil !== null && isPaused(delivery)
      ? { pausedUntil: resumesAt(delivery.id, delivery.pausedUntil).getTime() }
      : {}),
    ...(delivery.underWayUntil === null ? {} : { underWayUntil: delivery.underWayUntil.getTime() }),
    attemptsMade: delivery.attemptsMade,
    spent: exhaustedReason(delivery, policy),
    windowEndsAt,
    ...nextAttemptOf(delivery, policy.initialIntervalMs),
    lastError: delivery.lastError,
    receiverHost: delivery.receiverHost,
    operator: operatorHoldOf(delivery.operatorStop, delivery.operatorActions),
    operatorHeld: 2 * heldMs(delivery) > delivery.lateBeforeMs,
  };
}

/** How long operators have held it so far, in milliseconds, by the actions that are kept. */
function heldMs({ operatorActions, now }: DeliveryForAttempt): number {
  let ms = 0;
  let since: number | null = null;
  for (const { action, at } of operatorActions ?? []) {
    if (action === 'hold') since = Date.parse(at);
    else if (since !== null) {
      ms += Date.parse(at) - since;
      since = null;
    }
  }
  return since === null ? ms : ms + now.getTime() - since;
}

/** @throws Error if the delivery has not ended */
export function finalState(state: StoredState): FinalState {
  if (isOpen(state)) throw new Error(`A delivery in state ${state} has not ended.`);
  return state;
}

/**
 * When the next attempt is due. A change to the webhook makes an attempt due at once, but not sooner than the
 * policy's first wait after the last attempt: switching a webhook on and off must not use up the retries. If a limit
 * has deferred that attempt, its wait counts.
 */
function nextAttemptOf(
  delivery: DeliveryForAttempt,
  firstWaitMs: number,
): { generationChanged: boolean; nextAttemptAt: number | null } {
  const { attemptsMade, generation, lastGeneration, deferredGeneration, lastAttemptAt, now } = delivery;
  const planned = delivery.nextAttemptAt?.getTime() ?? null;
  const changed = attemptsMade > 0 && generation !== lastGeneration && generation !== deferredGeneration;
  const earliest = (lastAttemptAt?.getTime() ?? 0) + firstWaitMs;
  if (!changed || now.getTime() >= earliest) return { generationChanged: changed, nextAttemptAt: planned };
  return { generationChanged: false, nextAttemptAt: Math.min(planned ?? earliest, earliest) };
}

/** A 410 is about the URL of its request, and the activation at that time: the webhook as it is now goes on. */
export function wasGoneAtOldUrl({
  lastOutcome,
  lastGeneration,
  generation,
}: Pick<DeliveryForAttempt, 'lastOutcome' | 'lastGeneration' | 'generation'>): boolean {
  return lastOutcome === 'gone' && lastGeneration !== generation;
}

/** The reason comes from our own records: a failure in Temporal does not show what was at fault. */
function exhaustedReason(delivery: DeliveryForAttempt, policy: RetryPolicy): ExhaustedReason | null {
  if (delivery.attemptsMade === 0 || delivery.nextAttemptAt !== null) return null;
  if (wasGoneAtOldUrl(delivery) && delivery.attemptsMade < maxAttempts(policy)) return null;
  if (delivery.lastOutcome === 'gone') return 'gone';
  return delivery.windowLost ? 'windowLost' : 'retriesExhausted';
}
