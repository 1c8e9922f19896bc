import type { PendingResponse } from './unread.ts';

/** The limits, per process. */
export interface BudgetLimits {
  /** Requests of one e-shop whose responses have not been sent completely, open imports included. */
  readonly requests: number;
  /** Requests of one e-shop that use the database at the same time. */
  readonly connections: number;
  /** The same for all e-shops together: the pool keeps some connections for everything else. */
  readonly allConnections: number;
  /** Bytes of bodies, received, sent and delivered, of one e-shop per second, on average over ten seconds. */
  readonly bytesPerSecond: number;
}

export interface Allowance {
  /** Counts bytes received or sent. An e-shop that has spent too many is refused at its next request. */
  spend(bytes: number): void;
  /** Charges the milliseconds for which a request blocked the process, as bytes; a few are free. */
  held(ms: number): void;
  /**
   * Call before each small piece of long work. Returns undefined while it may go on, else a promise of the e-shop's
   * next slice.
   */
  slice(): Promise<void> | undefined;
  /** Resolves once the e-shop's bytes are within its budget and it has read enough of its responses. */
  paced(): Promise<void>;
  /**
   * Keeps the request in flight after its response has begun, for use when no connection reports the end.
   * @param waiting reports the bytes not yet handed to the connection
   * @returns ends the hold; may be called repeatedly
   */
  hold(waiting: PendingResponse): () => void;
}

/**
 * Does work that takes longer for a larger body or record, and charges the time to the e-shop's budget.
 * @param allowance absent if there is no budget
 */
export function chargeTime<T>(allowance: Allowance | undefined, work: () => T): T {
  const began = performance.now();
  try {
    return work();
  } finally {
    allowance?.held(performance.now() - began);
  }
}
