/** Data of the delivery workflow and its activities: identifiers. No URL, secret or customer data is in a history. */
import type { AttemptFailure, AttemptVerdict } from '../src/attempt/outcome.ts';
import type { DeliverySituation, SituationTerms } from '../src/attempt/situation.ts';
import type { FinalState } from '../src/domain/delivery-state.ts';
import type { EventType } from '../src/domain/event-types.ts';
import type { RecordedActionResult, RequestedAction } from '../src/domain/operator-action.ts';
import type { RetryPolicy } from '../src/domain/retry-policy.ts';

/** The times in the input of a workflow that mails. */
export interface MailTimes {
  /** How long without a heartbeat until another worker sends the mail; default 60 s. Tests shorten it. */
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
  /** The attempts recorded before this workflow, from the queue or another workflow; 0 if none could be made. */
  readonly attemptsMade: number;
  /** The policy at dispatch: later changes of the configuration do not affect this delivery. */
  readonly policy: RetryPolicy;
  /** The attempt from the queue that delivered it before this workflow was started; absent if there was none. */
  readonly delivered?: Delivered;
  /** The failed attempts before this workflow, in order, for the operator's view; absent if there were none. */
  readonly failures?: readonly FailedAttempt[];
}

/** An attempt that was accepted. */
export type Delivered = Extract<AttemptVerdict, { kind: 'delivered' }>;

/** The result of the compensation. */
export interface CompensationResult {
  readonly state: FinalState;
  /** The generation deactivated because of this delivery; null if none was. */
  readonly deactivatedGeneration: number | null;
  readonly attemptsMade: number;
  readonly lastError: string | null;
}

/** The result of a notice. */
export interface NoticeResult {
  /**
   * `dropped`: no longer true, or no longer wanted. `refused`: the mail server refused it for a day, or six requests
   * failed. `endedBefore`: it had ended already.
   */
  readonly outcome: 'sent' | 'dropped' | 'refused' | 'endedBefore';
}

/** Activities of a delivery; `activities/index.ts` makes them. */
export interface DeliveryActivities {
  /** Makes one attempt. Throws an ApplicationFailure of a type listed in `failureTypes`. */
  attemptDelivery(input: AttemptInput): Promise<AttemptVerdict>;
  /** Takes the delivery out of the queue, so that only its workflow makes its attempts from now on, and reads it. */
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
  /** @returns null if there is no such mail */
  mailDeactivation(input: { webhookId: number; generation: number }): Promise<NoticeResult | null>;
  /** Carries out and records an operator action, or says why not. */
  steerDelivery(input: {
    readonly deliveryId: string;
    readonly policy: RetryPolicy;
    readonly asked: RequestedAction;
  }): Promise<RecordedActionResult>;
}

/** The argument of `tryNow`, `hold`, `resume` and `giveUp`. */
export interface ActionRequest {
  readonly reason?: string;
  /** The name of the person who asks. */
  readonly by?: string;
  /** The request is a user's of the e-shop, not an operator's. */
  readonly user?: true;
}

/** The delivery to read. */
export interface ReadDeliveryInput extends SituationTerms {
  readonly deliveryId: string;
}

export interface AttemptInput {
  readonly deliveryId: string;
  readonly policy: RetryPolicy;
  /** The attempts recorded when this activity was scheduled: with Temporal's count they give the policy's wait. */
  readonly attemptsBefore: number;
  /** The last chance: the one attempt after a window that ended during an outage. */
  readonly lastChance: boolean;
}

/** The types of ApplicationFailure that `attemptDelivery` throws. */
export const failureTypes = {
  /** The receiver did not accept; another attempt follows. */
  attemptFailed: 'AttemptFailed',
  /** No request was made; Temporal retries later: webhook inactive or paused, or no permit for the last chance. */
  deferred: 'Deferred',
  /** The receiver did not accept, and no attempt is left. */
  retriesSpent: 'RetriesSpent',
  /** Internal: database away, attempt interrupted. Uses up no attempt; Temporal retries only the last chance. */
  ourOutage: 'OurOutage',
} as const;

/** Payload of the signal `attemptFailed`: one line of the operator's view. */
export interface FailedAttempt extends Omit<AttemptFailure, 'kind' | 'at' | 'nextAttemptAt'> {
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** ISO 8601 in UTC; null if no attempt is left. */
  readonly nextAttemptAt: string | null;
}

/** Signal: the webhook changed in a way that matters to open deliveries. Carries no command. */
export const webhookChangedSignal = 'webhookChanged';
/** Signal: an attempt failed. Only for the operator's view; nothing is decided by it. */
export const attemptFailedSignal = 'attemptFailed';

/** The task queue of Waybill's own steps, apart from workflows and attempts: they never wait behind an attempt. */
export function stepsQueue(taskQueue: string): string {
  return `${taskQueue}-steps`;
}
