import type { Leaving } from './unread.ts';

/** The limits, per process. */
export interface BudgetLimits {
  /** Requests of one e-shop whose responses have not been sent completely, open imports included. */
  readonly requests: number;
  /** Requests of one e-shop that use the database at the same time. */
  readonly connections: number;
  /** Of all e-shops together: the pool keeps some connections for everything else. */
  readonly allConnections: number;
  /** Bytes of bodies, received, sent and delivered, of one e-shop per second, on average over {@link WINDOW_SECONDS}. */
  readonly bytesPerSecond: number;
}

/** Bytes are averaged over this many seconds, so that short bursts do no harm. */
export const WINDOW_SECONDS = 10;

/** In milliseconds of each second: whoever keeps the process from everything else for longer uses up all its bytes. */
export const HELD_MS_PER_SECOND = 250;
/** What an ordinary request takes at a time, in milliseconds. */
export const FREE_HELD_MS = 5;

/** What an e-shop may receive in so many seconds is the most that waits in memory until it has read it. */
export const UNREAD_SECONDS = 2;

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
