/**
 * The present situation of a delivery, from which is decided what it does next. Pure; times in milliseconds since 1970.
 */
import type { DeliveryForAttempt } from '../db/webhooks/attempts.ts';
import { isOpen, type StoredState } from '../domain/delivery-state.ts';
import { type OperatorHold, operatorHoldOf } from '../domain/operator-action.ts';
import { latenessMs } from './lateness.ts';

/** How a delivery ended. */
export type FinalState = Exclude<StoredState, 'pending' | 'retrying'>;

/** Why no further attempt is due. */
type SpentReason =
  /** The last attempt the policy allows was made and failed. */
  | 'retriesExhausted'
  /** The receiver answered 410 Gone. */
  | 'gone'
  /** The window ended during an outage of Waybill; the one attempt made afterwards failed too. */
  | 'windowLost';

/** The present state of a delivery and its webhook. */
export type DeliverySituation =
  | { readonly open: false; readonly state: FinalState }
  | {
      readonly open: true;
      /** When it was read, by the database's clock, as all times here. */
      readonly readAt: number;
      readonly webhook: 'active' | 'inactive' | 'deleted';
      /** Somebody is making the next attempt, until then at the most; absent where nobody is. */
      readonly underWayUntil?: number;
      /** The webhook was activated or got another URL since the last attempt: another one is due at once. */
      readonly generationChanged: boolean;
      readonly attemptsMade: number;
      readonly spent: SpentReason | null;
      /** null before the first attempt or holding. */
      readonly windowEndsAt: number | null;
      readonly nextAttemptAt: number | null;
      /** "HTTP 503 from shop.example after 212 ms"; null before the first failure. */
      readonly lastError: string | null;
      /** The operator who has stopped it; null where none did. */
      readonly operator: OperatorHold | null;
      /** The host that its webhook's URL names. */
      readonly receiverHost: string | null;
      /** An operator has held it, now or before: what its window lost by that is no outage. */
      readonly operatorHeld: boolean;
    };

/** What a delivery's times depend on, in milliseconds. */
export interface SituationTerms {
  readonly windowMs: number;
  /** The policy's first wait. */
  readonly firstWaitMs: number;
  /** How many attempts the policy allows. */
  readonly maxAttempts: number;
}

/** @param delivery as read; undefined where there is none any more */
export function situationOf(
  delivery: DeliveryForAttempt | undefined,
  { windowMs, firstWaitMs, maxAttempts }: SituationTerms,
): DeliverySituation {
  if (delivery === undefined) return { open: false, state: 'canceled' };
  if (!isOpen(delivery.state)) return { open: false, state: delivery.state };
  const windowEndsAt =
    delivery.windowStartedAt === null ? null : delivery.windowStartedAt.getTime() + windowMs;
  return {
    open: true,
    readAt: delivery.now.getTime(),
    webhook: delivery.deletedAt !== null ? 'deleted' : delivery.active ? 'active' : 'inactive',
    ...(delivery.underWayUntil === null ? {} : { underWayUntil: delivery.underWayUntil.getTime() }),
    attemptsMade: delivery.attemptsMade,
    spent: spentReason(delivery, windowEndsAt, maxAttempts),
    windowEndsAt,
    ...nextAttemptOf(delivery, firstWaitMs),
    lastError: delivery.lastError,
    receiverHost: delivery.receiverHost,
    operator: operatorHoldOf(delivery.operatorStop, delivery.operatorActions),
    operatorHeld: delivery.operatorActions?.some(({ action }) => action === 'hold') ?? false,
  };
}

/** @throws Error where the delivery has not ended */
export function finalState(state: StoredState): FinalState {
  if (isOpen(state)) throw new Error(`A delivery in state ${state} has not ended.`);
  return state;
}

/**
 * When the next attempt is due. A change of the webhook leads to one at once, but not sooner than the policy's first
 * wait after the last one: a webhook switched on and off again and again must not spend the retries.
 */
function nextAttemptOf(
  delivery: DeliveryForAttempt,
  firstWaitMs: number,
): { generationChanged: boolean; nextAttemptAt: number | null } {
  const { attemptsMade, generation, lastGeneration, lastAttemptAt, now } = delivery;
  const planned = delivery.nextAttemptAt?.getTime() ?? null;
  const changed = attemptsMade > 0 && generation !== lastGeneration;
  const earliest = new Date((lastAttemptAt?.getTime() ?? 0) + firstWaitMs);
  if (!changed || (latenessMs([earliest], now) ?? 0) >= 0) {
    return { generationChanged: changed, nextAttemptAt: planned };
  }
  return {
    generationChanged: false,
    nextAttemptAt: Math.min(planned ?? Number.POSITIVE_INFINITY, earliest.getTime()),
  };
}

/** 410 speaks for the address that was asked, and for that activation: it ends nothing for the webhook as it is now. */
export function wasGoneElsewhere({
  lastOutcome,
  lastGeneration,
  generation,
}: Pick<DeliveryForAttempt, 'lastOutcome' | 'lastGeneration' | 'generation'>): boolean {
  return lastOutcome === 'gone' && lastGeneration !== generation;
}

/** Read from our own records: Temporal's failures do not tell whose fault it was. */
function spentReason(
  delivery: DeliveryForAttempt,
  windowEndsAt: number | null,
  maxAttempts: number,
): SpentReason | null {
  if (delivery.attemptsMade === 0 || delivery.nextAttemptAt !== null) return null;
  if (wasGoneElsewhere(delivery) && delivery.attemptsMade < maxAttempts) return null;
  if (delivery.lastOutcome === 'gone') return 'gone';
  const late =
    windowEndsAt !== null &&
    delivery.lastStartedAt !== null &&
    delivery.lastStartedAt.getTime() > windowEndsAt;
  return late || delivery.windowLost ? 'windowLost' : 'retriesExhausted';
}
