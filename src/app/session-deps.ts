/** The dependencies of a session of the worker role, and its reports. */
import type { WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { AttemptDeps } from '../attempt/begin-attempt.ts';
import type { DeliveryWatch } from '../attempt/watch.ts';
import type { Limits } from '../concurrency/limits.ts';
import type { SchedulerOptions } from '../concurrency/settings.ts';
import type { Starts } from '../concurrency/starts.ts';
import type { Pool } from '../db/connection/pool.ts';
import type { Sender } from '../delivery/sender.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import type { Mailer } from '../mail/mail.ts';
import type { ReconcilerMemory } from '../reconciler/reconciler.ts';
import type { Repair } from '../reconciler/repair.ts';
import type { RelayOptions, WorkflowsSetting } from '../relay/deps.ts';
import type { Keys } from '../secrets/keys.ts';
import type { PolledKind } from '../temporal/pollers.ts';
import type { TemporalTarget } from '../temporal/target.ts';
import type { Traces } from '../traces/traces.ts';

/** Times that are not configurable. */
export interface Timings {
  /** The time between two checks of the reconciler for late or ended workflows, in milliseconds; default 5 s. */
  readonly reconcileIntervalMs?: number;
  /** How late a record may be before the reconciler checks it, in milliseconds; default 5 s beyond an attempt. */
  readonly reconcileGraceMs?: number;
  /** The time between two checks of what the namespace must have, in milliseconds; default 15 s. */
  readonly lookMs?: number;
  /** The wait after a failed worker of Temporal's SDK, in milliseconds; default 2 s. */
  readonly afterFailureMs?: number;
  /** The waits between the tries of a notice to a URL, in milliseconds; default: 58 minutes in all. */
  readonly noticeWaitsMs?: readonly number[];
}

export interface SessionOptions {
  readonly sql: Pool;
  /** As in `RelayOptions`. */
  readonly sessionSql: Pool | null;
  readonly temporal: TemporalTarget;
  readonly policy: RetryPolicy;
  readonly workflows: WorkflowsSetting;
  readonly keys: Keys;
  readonly sender: Sender;
  /** Whether the database's disk is full: until there is room, no attempt begins, since none could be recorded. */
  readonly isDiskFull: () => boolean;
  readonly mailer: Mailer;
  /** Where e-shops reach the API, for the links in mails; null if unknown. */
  readonly publicUrl: string | null;
  readonly log: Logger;
  readonly retention: {
    /** The least time that events and deliveries are kept, in milliseconds. */
    readonly periodMs: number;
    readonly scheduled: boolean;
  };
  /** Tests shorten these. */
  readonly timings?: Timings;
}

export interface SessionDeps
  extends SessionOptions,
    Pick<AttemptDeps, 'underWay' | 'compensations'>,
    Pick<RelayOptions, 'onPass' | 'onClaim' | 'onTemporal'> {
  readonly traces: Traces;
  readonly workflowBundle: WorkflowBundleOption;
  readonly scheduler: SchedulerOptions;
  readonly limits: Limits;
  readonly starts: Starts;
  readonly watch: DeliveryWatch;
  /** What the reconciler of a session hands on to the next one. */
  readonly reconcilerMemory: ReconcilerMemory;
  readonly lookAtClock: () => Promise<void>;
  readonly onRepair: (repair: Repair) => void;
  readonly onRetentionFailure: () => void;
  readonly onQuestionAnswered: () => void;
  /** Called with the kinds of work for which Temporal has accepted polls of this process. */
  readonly onPolled: (kinds: readonly PolledKind[]) => void;
}

export interface SessionTerms {
  /** Ends its workers: another session takes over. Attempts of the queue go on until then, whatever Temporal does. */
  readonly renewal: AbortSignal;
  /** Ends the session: no new claims; attempts under way finish. */
  readonly until: AbortSignal;
  readonly onReady: () => void;
  /** Called when Temporal may know less than the session's workers remember. */
  readonly onSetBack: (why: string) => void;
  /** Called when a worker has failed, or stops by itself: another session has to take over. */
  readonly onWorkerFailure: (reason: Error) => void;
}
