/** What the loops of the relay take; each takes a part of it. */
import type { Logger } from 'pino';
import type { DeliveryWatch } from '../attempt/watch.ts';
import type { Limits } from '../concurrency/limits.ts';
import type { Load } from '../concurrency/load.ts';
import type { SchedulerOptions } from '../concurrency/settings.ts';
import type { WarningTerms } from '../db/incidents/decide.ts';
import type { Claim, ClaimLimits } from '../db/outbox/claim.ts';
import type { Pool } from '../db/pool.ts';
import type { Dispatcher } from '../temporal/dispatcher.ts';
import type { BatchStarter } from '../temporal/start-batch.ts';
import type { RecoveryStarter } from '../temporal/start-recovery.ts';
import type { WarningStarter } from '../temporal/start-warning.ts';
import type { Budget } from './budget.ts';
import type { FirstAttempts } from './mode.ts';
import type { Silence } from './silence.ts';

export interface RelayDeps {
  readonly sql: Pool;
  /** Claims deliveries. */
  readonly claim: (limits: ClaimLimits) => Promise<Claim>;
  readonly log: Logger;
  readonly options: SchedulerOptions;
  readonly firstAttempts: FirstAttempts;
  /** Shared with the attempts of the worker beside it. */
  readonly limits: Limits;
  readonly load: Load;
  readonly budget: Budget;
  readonly silence: Silence;
  /** Aborted when the relay is being stopped: what is not under way by then is released. */
  readonly stopping: AbortSignal;
  readonly dispatcher: Dispatcher;
  readonly starter: Pick<BatchStarter, 'startBatch'>;
  /** Looks after a batch that was started before: an operator may have ended it, or Temporal lost it. */
  readonly checkBatch: (batchId: string) => Promise<void>;
  readonly recoveries: Pick<RecoveryStarter, 'signalRecoveryChanged'>;
  readonly warnings: WarningStarter;
  /** null: nobody is warned. */
  readonly warningTerms: WarningTerms | null;
  /** The policy's first wait, in milliseconds: no change of a webhook leads to an attempt sooner after the last one. */
  readonly firstWaitMs: number;
  /** Told when Temporal took something, and when it did not answer. */
  readonly onTaken: () => void;
  readonly onAway: () => void;
  /** Told of deliveries that end without a workflow. */
  readonly watch: Pick<DeliveryWatch, 'ended'>;
}
