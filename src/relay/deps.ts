/** The dependencies of the relay's loops; each loop takes some of them. */
import type { Logger } from 'pino';
import type { AttemptSignals } from '../attempt/make-attempt.ts';
import type { AttemptOutcome } from '../attempt/outcome.ts';
import type { DeliveryWatch } from '../attempt/watch.ts';
import type { Limits } from '../concurrency/limits.ts';
import type { SchedulerOptions } from '../concurrency/settings.ts';
import type { Starts } from '../concurrency/starts.ts';
import type { Claim, ClaimLimits } from '../db/outbox/claim.ts';
import type { Pool } from '../db/pool.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import type { Dispatcher } from '../temporal/dispatcher.ts';
import type { BatchStarter } from '../temporal/start-batch.ts';
import type { RecoveryStarter } from '../temporal/start-recovery.ts';
import type { WarningStarter } from '../temporal/start-warning.ts';
import type { FirstAttemptsSetting } from './mode.ts';

/** Makes the first attempt of a delivery. @throws the error that interrupted it, already logged */
export type MakeFirstAttempt = (deliveryId: string, signals: AttemptSignals) => Promise<AttemptOutcome>;

export interface RelayDeps {
  readonly sql: Pool;
  /** Claims deliveries. */
  readonly claim: (limits: ClaimLimits) => Promise<Claim>;
  readonly log: Logger;
  readonly options: SchedulerOptions;
  readonly firstAttempts: FirstAttemptsSetting;
  /** Shared with the attempts of the worker beside it. */
  readonly limits: Limits;
  readonly starts: Starts;
  /** Aborted when the relay is being stopped: deliveries not under way by then are given back. */
  readonly stopping: AbortSignal;
  readonly dispatcher: Dispatcher;
  readonly starter: Pick<BatchStarter, 'startBatch'>;
  /** Checks a batch that was started before: an operator may have ended it, or Temporal may have lost it. */
  readonly checkBatch: (batchId: string) => Promise<void>;
  readonly recoveries: Pick<RecoveryStarter, 'signalRecoveryChanged'>;
  readonly warnings: WarningStarter;
  readonly policy: RetryPolicy;
  readonly makeFirstAttempt: MakeFirstAttempt;
  /** Called when Temporal has answered, even if it refused, and when it has not. */
  readonly onAnswered: () => void;
  readonly onAway: () => void;
  /** Called for deliveries that end without a workflow. */
  readonly watch: Pick<DeliveryWatch, 'ended'>;
}
