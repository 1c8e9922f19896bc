/** The command to make an attempt, and its outcome. */
import type { QueuePlan } from '../db/deliveries/results.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';

export interface AttemptCommand {
  readonly deliveryId: string;
  readonly policy: RetryPolicy;
  /** The last chance: the one attempt after a window that ended during an outage of Waybill. */
  readonly lastChance: boolean;
  /**
   * The number that the caller expects; null if an operator may have asked for the attempt. A caller that is behind
   * the records was restored from an older copy, and its waits are out of date.
   */
  readonly expectedNumber: number | null;
  /** Set if the queue makes the attempt; null if the delivery's workflow does. */
  readonly queue: QueueTerms | null;
}

/** What happens to a delivery's workflow. */
export type HandOver = QueuePlan['workflow'];

/** The terms of an attempt made from the queue. */
export interface QueueTerms {
  /** The claim token of the delivery. */
  readonly claimId: string;
  /**
   * For how long this process has been claiming without a break, in milliseconds: a wait in that time is no outage.
   */
  readonly claimingMs: number;
  /** Decides who starts the delivery's workflow, once the attempt of this number has its result. */
  handOver(delivered: boolean, number: number): HandOver;
}

/**
 * Why no request was made. `underWay`: another owner makes the attempt. `stopped`: an operator has stopped the
 * delivery. `concurrencyLimit`: a limit is reached, and the attempt is deferred. `order`:
 * older events of its record go first.
 */
export type SkipReason =
  | 'inactive'
  | 'paused'
  | 'deleted'
  | 'closed'
  | 'underWay'
  | 'stopped'
  | 'spent'
  | 'windowOver'
  | 'notDue'
  | 'concurrencyLimit'
  | 'order';

/** The outcome of an attempt that did not fail. */
export type AttemptVerdict =
  | { readonly kind: 'delivered'; readonly number: number; readonly status: number }
  /** The caller has to look at the situation and decide again. */
  | { readonly kind: 'notAttempted'; readonly reason: SkipReason };

/** An attempt that the receiver did not accept. */
export interface AttemptFailure {
  readonly kind: 'failed';
  readonly number: number;
  readonly status: number | null;
  /** Host and outcome, never a path: "HTTP 503 from shop.example after 212 ms". */
  readonly message: string;
  readonly at: Date;
  /** null if no attempt is left. */
  readonly nextAttemptAt: Date | null;
}

/** No request was made. Unless the webhook changes, nothing is to be decided for `ms` milliseconds. */
export type AttemptDeferral = {
  readonly kind: 'deferred';
  readonly ms: number;
} & (
  | { readonly reason: 'inactive'; readonly windowEndsAt: Date }
  | { readonly reason: 'paused'; readonly until: Date }
  /** The last chance, while a concurrency limit is reached; or others of its record go first. */
  | { readonly reason: 'concurrencyLimit' | 'order' }
);

/** The outcome of a command, for its caller. The records have the `RecordedOutcome` of a request that was made. */
export type AttemptOutcome = AttemptVerdict | AttemptFailure | AttemptDeferral;
