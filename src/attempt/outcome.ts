/** The order for an attempt, and its outcome. */
import type { RetryPolicy } from '../domain/retry-policy.ts';

/** The terms that decide whether an attempt may be made, and what follows from it. */
export interface AttemptTerms {
  readonly policy: RetryPolicy;
  /** The last chance: the one attempt after a window that ended during an outage of Waybill. */
  readonly lastChance: boolean;
  /**
   * The number that the caller expects, or null if an operator may have ordered the attempt. A caller behind the records was restored
   * from an older copy, and its waits are out of date.
   */
  readonly expectedNumber: number | null;
}

export interface AttemptOrder extends AttemptTerms {
  readonly deliveryId: string;
}

/**
 * Why no request was made. `underWay`: another owner makes the attempt. `stopped`: by an operator. `concurrencyLimit`: one is reached,
 * and the attempt is deferred.
 */
export type Refusal =
  | 'inactive'
  | 'deleted'
  | 'closed'
  | 'underWay'
  | 'stopped'
  | 'spent'
  | 'windowOver'
  | 'notDue'
  | 'concurrencyLimit';

/** The outcome of an attempt that did not fail. */
export type AttemptVerdict =
  | { readonly kind: 'delivered'; readonly number: number; readonly status: number }
  /** Look at the situation and decide again. */
  | { readonly kind: 'notAttempted'; readonly reason: Refusal };

/** An attempt that the receiver did not accept. */
export interface AttemptFailure {
  readonly kind: 'failed';
  readonly number: number;
  readonly status: number | null;
  /** Host and outcome, never a path: "HTTP 503 from shop.example after 212 ms". */
  readonly sentence: string;
  readonly at: Date;
  /** null if no attempt is left. */
  readonly nextAttemptAt: Date | null;
  /** The number of newer deliveries of its record behind it now, if its webhook has an order. */
  readonly behind?: number;
}

/** No request was made. Unless the webhook changes, there is nothing to decide for `ms` milliseconds. */
export type AttemptDeferral = {
  readonly kind: 'deferred';
  readonly ms: number;
} & (
  | { readonly reason: 'inactive'; readonly windowEndsAt: Date }
  /** The last chance, while a concurrency limit is reached. */
  | { readonly reason: 'concurrencyLimit' }
);

/** The outcome of an attempt. */
export type AttemptOutcome = AttemptVerdict | AttemptFailure | AttemptDeferral;
