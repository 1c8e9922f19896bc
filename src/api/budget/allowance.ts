/**
 * What one e-shop may take of a process.
 * @module
 */

/** The limits, per process. */
export interface BudgetLimits {
  /** Requests of one e-shop whose responses have not been sent completely, open imports included. */
  readonly requests: number;
  /** Requests of one e-shop that use the database at the same time. */
  readonly connections: number;
  /** Of all e-shops together: the pool keeps some connections for everything else. */
  readonly allConnections: number;
  /** Bytes of bodies, received and sent, of one e-shop per second, on average over {@link WINDOW_SECONDS}. */
  readonly bytesPerSecond: number;
}

/** Bytes are averaged over this many seconds, so that short bursts do no harm. */
export const WINDOW_SECONDS = 10;

/** The budget of the e-shop of a request. */
export interface Allowance {
  /** Counts bytes received or sent. An e-shop that has spent too many is refused at its next request. */
  spend(bytes: number): void;
  /** Resolves once the e-shop's bytes are within its budget again: for a body that is read in chunks. */
  paced(): Promise<void>;
  /**
   * Keeps the request among those in flight after its answer has begun, where no connection says when it has left.
   * @returns ends that; may be called repeatedly
   */
  hold(): () => void;
}
