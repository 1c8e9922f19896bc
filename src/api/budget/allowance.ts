import type { Leaving } from './unread.ts';

/** The limits, per process. */
export interface BudgetLimits {
  /** Requests of one e-shop whose responses have not been sent completely, open imports included. */
  readonly requests: number;
  /** Requests of one e-shop that use the database at the same time. */
  readonly connections: number;
  /** Of all e-shops together: the pool keeps some connections for everything else. */
  readonly allConnections: number;
  /** Bytes of bodies, received, sent and delivered, of one e-shop per second, on average over ten seconds. */
  readonly bytesPerSecond: number;
}

/** The budget of the e-shop of a request. */
export interface Allowance {
  /** Counts bytes received or sent. An e-shop that has spent too many is refused at its next request. */
  spend(bytes: number): void;
  /** Counts milliseconds for which a request kept the process from everything else, as bytes; few are nothing. */
  held(ms: number): void;
  /** Resolves once the e-shop's bytes are within its budget and it has read enough of its responses. */
  paced(): Promise<void>;
  /**
   * Keeps the request in flight after its answer has begun, where no connection says when it has left.
   * @param waiting what has not been handed to the connection yet
   * @returns ends that; may be called repeatedly
   */
  hold(waiting: Leaving): () => void;
}
