/**
 * What the delivery workflow and its activities exchange. Identifiers only: no URL, no secret, no
 * customer data ever enters a history.
 */
import type { AttemptFailure, AttemptVerdict } from '../src/attempt/outcome.ts';
import type { DeliverySituation, FinalState, SituationTerms } from '../src/attempt/situation.ts';
import type { EventType } from '../src/domain/event-types.ts';
import type { AskedAction, RecordedActionResult } from '../src/domain/operator-action.ts';
import type { RetryPolicy } from '../src/domain/retry-policy.ts';

/** What the input of a workflow that mails says of the times. */
export interface MailTimes {
  /** After so long without a heartbeat another worker sends the mail, in milliseconds; default 60 s. Tests shorten it. */
  readonly mailHeartbeatMs?: number;
}

export interface DeliverEventInput extends MailTimes {
  /** UUIDv7 text. */
  readonly deliveryId: string;
  readonly eshopId: number;
  readonly webhookId: number;
  readonly eventType: EventType;
  /** The e-shop's own identifier of the record, e.g. its order number. */
  readonly entityId: string;
  /** Attempts recorded before this workflow began: 0, or more when it continues for another. */
  readonly attemptsMade: number;
  /** As it was when the delivery was dispatched: a later change of configuration does not reach this delivery. */
  readonly policy: RetryPolicy;
  /** The first attempt, which its claim began before this workflow was started; absent where the records tell all that matters. */
  readonly first?: Delivered | UnderWay;
  /** The failed attempt that was made before this workflow began, for the operator's view. */
  readonly lastFailure?: FailedAttempt;
}

/** An attempt that was accepted. */
export type Delivered = Extract<AttemptVerdict, { kind: 'delivered' }>;

/** An attempt without a result yet: the signal `firstAttempt` follows within so many milliseconds, unless its process dies. */
export interface UnderWay {
  readonly kind: 'underWay';
  readonly ms: number;
}

/** What the compensation did. */
export interface CompensationResult {
  readonly state: FinalState;
  /** The generation that was deactivated on account of this delivery, if it was. */
  readonly deactivatedGeneration: number | null;
  readonly attemptsMade: number;
  readonly lastError: string | null;
}

/** Activities of a delivery; `activities/index.ts` makes them. */
export interface DeliveryActivities {
  /** Makes one attempt. Throws an ApplicationFailure of a type listed in `failureTypes`. */
  attemptDelivery(input: AttemptInput): Promise<AttemptVerdict>;
  readDelivery(input: ReadDeliveryInput): Promise<DeliverySituation>;
  /** Starts the window of a delivery that is held before its first attempt. */
  holdDelivery(input: ReadDeliveryInput): Promise<DeliverySituation>;
  /** Open → failed, and the webhook inactive if the last attempt's generation is still current. */
  compensate(deliveryId: string): Promise<CompensationResult>;
  /** Open → expired or canceled; returns the state afterwards. */
  closeDelivery(input: {
    deliveryId: string;
    state: 'expired' | 'canceled';
    alarm: boolean;
  }): Promise<FinalState>;
  mailDeactivation(input: { webhookId: number; generation: number }): Promise<void>;
  /** Does and records what an operator asks, or says why not. */
  steerDelivery(input: OperatorActionInput): Promise<RecordedActionResult>;
}

/** What an operator asks of a delivery. */
interface OperatorActionInput {
  readonly deliveryId: string;
  readonly policy: RetryPolicy;
  readonly asked: AskedAction;
}

/** What an operator says with `tryNow`, `hold`, `resume` and `giveUp`. */
export interface ActionRequest {
  readonly reason?: string;
  /** Who asks. */
  readonly by?: string;
  /** A user of the e-shop, not an operator. */
  readonly user?: true;
}

/** Which delivery is read. */
export interface ReadDeliveryInput extends SituationTerms {
  readonly deliveryId: string;
}

export interface AttemptInput {
  readonly deliveryId: string;
  readonly policy: RetryPolicy;
  /** Attempts recorded when this activity was scheduled: with the engine's count it tells the policy's wait. */
  readonly attemptsBefore: number;
  /** The one attempt after a window that our own outage swallowed. */
  readonly lastChance: boolean;
}

/** Types of ApplicationFailure that `attemptDelivery` throws. */
export const failureTypes = {
  /** The receiver did not accept; another attempt follows. */
  attemptFailed: 'AttemptFailed',
  /** No request was made, and the engine tries again later: the webhook is inactive, or the last attempt found no room. */
  deferred: 'Deferred',
  /** The receiver did not accept, and no attempt is left. */
  retriesSpent: 'RetriesSpent',
  /** Ours: database away, attempt interrupted. Uses up none of the attempts, and is never retried by the engine. */
  ourOutage: 'OurOutage',
} as const;

/** Payload of the signal `attemptFailed`: one line of the delivery's story. */
export interface FailedAttempt extends Omit<AttemptFailure, 'kind' | 'at' | 'nextAttemptAt'> {
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** ISO 8601 in UTC; null when no attempt is left. */
  readonly nextAttemptAt: string | null;
}

/** Signal: something that matters to open deliveries changed on the webhook. Carries no command. */
export const webhookChangedSignal = 'webhookChanged';
/**
 * Signal: what came of the first attempt that was under way when the workflow was started: delivered, failed, or null, where the
 * records tell.
 */
export const firstAttemptSignal = 'firstAttempt';
/** Signal: an attempt failed. For the operator's view alone; nothing is decided by it. */
export const attemptFailedSignal = 'attemptFailed';

/**
 * The task queue of the steps that are Waybill's own, beside that of workflows and attempts: they never wait behind an attempt.
 */
export function stepsQueue(taskQueue: string): string {
  return `${taskQueue}-steps`;
}
