/**
 * The data exchanged by the workflow of a delivery and its activities: identifiers. No URL, secret or customer data
 * enters a history.
 */
import type { AttemptFailure, AttemptVerdict } from '../src/attempt/outcome.ts';
import type { DeliverySituation } from '../src/attempt/situation.ts';
import type { FinalState } from '../src/domain/delivery-state.ts';
import type { EventType } from '../src/domain/event-types.ts';
import type { OperatorAction, RecordedActionResult, RequestedAction } from '../src/domain/operator-action.ts';
import type { RetryPolicy } from '../src/domain/retry-policy.ts';

export interface DeliverEventInput {
  /** UUIDv7 text. */
  readonly deliveryId: string;
  readonly eshopId: number;
  readonly webhookId: number;
  readonly eventType: EventType;
  /** The e-shop's own identifier of the record, e.g. its order number. */
  readonly entityId: string;
  /** How many attempts the queue or another workflow recorded before this workflow; 0 if none could be made. */
  readonly attemptsMade: number;
  /** The policy at dispatch: later changes to the configuration do not affect this delivery. */
  readonly policy: RetryPolicy;
  /** The attempt that delivered it from the queue, before this workflow was started; absent if none did. */
  readonly delivered?: Delivered;
  /** The failed attempts before this workflow, in order, for the operator's view; absent if there were none. */
  readonly failures?: readonly FailedAttempt[];
  /** The operator actions that a former history of this workflow has shown; absent if there were none. */
  readonly actions?: readonly ShownAction[];
}

/** An operator action as the operator's view shows it. */
export type ShownAction = Omit<OperatorAction, 'id'>;

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
   * `dropped`: the notice was no longer true, or no longer wanted. `refused`: the mail server refused it for a day,
   * or six requests failed. `endedBefore`: the notice had ended already.
   */
  readonly outcome: 'sent' | 'dropped' | 'refused' | 'endedBefore';
}

/** Activities of a delivery; `activities/index.ts` makes them. */
export interface DeliveryActivities {
  /** Makes one attempt. @throws ApplicationFailure of a type in `failureTypes` */
  attemptDelivery(input: AttemptInput): Promise<AttemptVerdict>;
  /** Takes the delivery out of the queue, so that from now on only its workflow makes its attempts, and reads it. */
  readDelivery(input: ReadDeliveryInput): Promise<DeliverySituation>;
  /** Starts the window of a delivery that is held before its first attempt. */
  holdDelivery(input: ReadDeliveryInput): Promise<DeliverySituation>;
  /** Open → failed. Deactivates the webhook if the generation of the last attempt is still the current one. */
  compensate(deliveryId: string): Promise<CompensationResult>;
  /** Open → expired or canceled; returns the state afterwards. */
  closeDelivery(input: {
    deliveryId: string;
    state: 'expired' | 'canceled';
    alarm: boolean;
  }): Promise<FinalState>;
  /** @returns null if there is no such mail */
  mailDeactivation(input: { webhookId: number; generation: number }): Promise<NoticeResult | null>;
  /** Carries out an operator action and records it, or says why it cannot. */
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
  /** A user of the e-shop asks, not an operator. */
  readonly user?: true;
}

/** The delivery to read. */
export interface ReadDeliveryInput {
  readonly deliveryId: string;
  readonly policy: RetryPolicy;
}

export interface AttemptInput {
  readonly deliveryId: string;
  readonly policy: RetryPolicy;
  /** How many attempts were recorded when this activity was scheduled. With Temporal's count it gives the wait. */
  readonly attemptsBefore: number;
  /** The last chance: the one attempt after a window that ended during an outage. */
  readonly lastChance: boolean;
}

/** The types of ApplicationFailure that `attemptDelivery` throws. */
export const failureTypes = {
  /** The receiver did not accept; another attempt follows. */
  attemptFailed: 'AttemptFailed',
  /**
   * No request was made, and Temporal retries later: the webhook is inactive or paused, or the last chance got no
   * permit.
   */
  deferred: 'Deferred',
  /** The receiver did not accept, and no attempt is left. */
  retriesSpent: 'RetriesSpent',
  /**
   * An internal failure: the database was unavailable, or the attempt was interrupted. It uses up no attempt.
   * Temporal retries only the last chance.
   */
  ourOutage: 'OurOutage',
} as const;

/** Payload of the signal `attemptFailed`: one line of the operator's view. */
export interface FailedAttempt extends Omit<AttemptFailure, 'kind' | 'at' | 'nextAttemptAt'> {
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** ISO 8601 in UTC; null if no attempt is left. */
  readonly nextAttemptAt: string | null;
}

/** Signal: the webhook changed in a way that matters to open deliveries. The signal carries no command. */
export const webhookChangedSignal = 'webhookChanged';
/** Signal: an attempt failed. It is for the operator's view alone, and decides nothing. */
export const attemptFailedSignal = 'attemptFailed';

/** The task queue of Waybill's own steps. It is apart from attempts, so that no step waits behind an attempt. */
export function stepsQueue(taskQueue: string): string {
  return `${taskQueue}-steps`;
}
