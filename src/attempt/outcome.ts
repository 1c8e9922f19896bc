/** What an attempt is asked for, and what came of it. */
import type { RetryPolicy } from '../domain/retry-policy.ts';

/** By what it is decided whether an attempt may be made, and what follows from it. */
export interface AttemptTerms {
  readonly policy: RetryPolicy;
  /** The one attempt after a window that an outage of Waybill used up. */
  readonly lastChance: boolean;
  /**
   * The number that the caller counts by, or null where an operator may have ordered the attempt. A caller that is behind
   * the records has been restored from an older copy: its waits are not those that are due.
   */
  readonly expectedNumber: number | null;
}

export interface AttemptOrder extends AttemptTerms {
  readonly deliveryId: string;
}

/**
 * Why no request was made. `underWay`: somebody else makes the attempt. `stopped`: by an operator. `noRoom`: as many attempts are under way there as may be; it is planned
 * again.
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
  | 'noRoom';

/** What an attempt found, where it did not fail. */
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
  /** null when no attempt is left. */
  readonly nextAttemptAt: Date | null;
  /** Newer deliveries of its record that wait behind it at this moment, where its webhook has an order. */
  readonly behind?: number;
}

/** No request was made; there is nothing to decide until then, unless the webhook changes. */
export type AttemptDeferral = {
  readonly kind: 'deferred';
  /** Until then, in milliseconds. */
  readonly ms: number;
} & (
  | { readonly reason: 'inactive'; readonly windowEndsAt: Date }
  /** The one last attempt, while as many are under way there as may be. */
  | { readonly reason: 'noRoom' }
);

/** What came of an attempt. */
export type AttemptOutcome = AttemptVerdict | AttemptFailure | AttemptDeferral;
