/** The dependencies of the relay's loops; each loop takes some of them. */
import type { Logger } from 'pino';
import type { AttemptSignals } from '../attempt/make-attempt.ts';
import type { AttemptOutcome, QueueTerms } from '../attempt/outcome.ts';
import type { DeliveryWatch } from '../attempt/watch.ts';
import type { Limits } from '../concurrency/limits.ts';
import type { SchedulerOptions } from '../concurrency/settings.ts';
import type { Starts } from '../concurrency/starts.ts';
import type { Pool } from '../db/connection/pool.ts';
import type { Execute } from '../db/connection/through-sessions.ts';
import type { PendingNotice } from '../db/notices/pending.ts';
import type { Claim, ClaimLimits } from '../db/outbox/claim.ts';
import type { QueuedDelivery } from '../db/outbox/outbox.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import type { Dispatcher, QueueAttempt } from '../temporal/dispatcher.ts';
import type { RecoveryStarter } from '../temporal/start-recovery.ts';
import type { ClassName, Precedence, RelayLoop, WorkflowClass } from './classes.ts';
import type { PassResult } from './loop.ts';
import type { Suspects } from './suspects.ts';

/**
 * A value of WORKFLOWS. If the workflow of a delivery cannot be started at once, `all` starts it later; `undelivered`
 * skips it if the first attempt was accepted.
 */
export type WorkflowsSetting = 'all' | 'undelivered';

/** Makes the next attempt of a queued delivery. @throws the error that interrupted it, already logged */
export type MakeQueueAttempt = (
  delivery: Pick<QueuedDelivery, 'id' | 'attemptsMade'>,
  queue: QueueTerms,
  signals: AttemptSignals,
) => Promise<AttemptOutcome>;

/**
 * Starts the workflow of a queued delivery, and marks the delivery as dispatched. If Temporal refuses the start, the
 * delivery is postponed.
 * @param last the attempt just made; left out: everything that the workflow needs is in the row
 * @throws the error of Temporal or the database when it is unavailable
 */
export type StartWorkflow = (delivery: QueuedDelivery, last?: QueueAttempt) => Promise<void>;

/** The options of a relay, given by its worker. */
export interface RelayOptions {
  readonly sql: Pool;
  /** Executes claims. */
  readonly execute: Execute;
  /**
   * Direct sessions with the server, on which notifications arrive. Null behind a pooler, where there are none: the
   * loops only poll.
   */
  readonly sessionSql: Pool | null;
  readonly log: Logger;
  readonly options: SchedulerOptions;
  readonly workflows: WorkflowsSetting;
  /** Whether the database's disk is full: nothing is claimed until there is room. */
  readonly isDiskFull: () => boolean;
  /** Shared with the attempts of the worker beside it. */
  readonly limits: Limits;
  readonly starts: Starts;
  readonly dispatcher: Dispatcher;
  readonly recoveries: Pick<RecoveryStarter, 'signalRecoveryChanged'>;
  /** Starts the workflow of a notice, unless it is running and can go on. */
  readonly startNotice: (notice: PendingNotice) => Promise<void>;
  readonly policy: RetryPolicy;
  readonly makeAttempt: MakeQueueAttempt;
  /** Called for deliveries that end without a workflow. */
  readonly watch: Pick<DeliveryWatch, 'ended'>;
  /** Called with whether Temporal answered a call, and with the error if it did not. */
  readonly onTemporal: (state: 'up' | 'down', error?: unknown) => void;
  /** Called after each claim of a class, whatever the claim found. */
  readonly onClaim: (name: ClassName) => void;
  /** Called after every pass of every loop. */
  readonly onPass: (loop: RelayLoop, result: PassResult) => void;
}

/** The dependencies that the relay's loops share. */
export interface RelayDeps extends RelayOptions {
  /** Claims deliveries of a class. */
  readonly claim: (name: ClassName, limits: Omit<ClaimLimits, 'class'>) => Promise<Claim>;
  readonly precedence: Precedence;
  readonly startWorkflow: StartWorkflow;
  /** Aborted when the relay is being stopped: deliveries whose attempts have not begun by then are given back. */
  readonly stopping: AbortSignal;
  /** Called when Temporal has answered, even with a refusal. */
  readonly onAnswered: () => void;
  /** Remembers the items whose calls fail. */
  readonly suspects: Suspects;
  /** Called when a delivery of a class may wait for its workflow. */
  readonly wake: (name: WorkflowClass) => void;
}
