/** A session of the worker role: relay, reconciler and Temporal workers on one connection, until it fails or ends. */
import { Client } from '@temporalio/client';
import { NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import { createActivities } from '../../activities/index.ts';
import type { MailTimes } from '../../workflows/delivery-types.ts';
import { stepsQueue } from '../../workflows/delivery-types.ts';
import type { AttemptDeps } from '../attempt/begin-attempt.ts';
import { makeAttempt } from '../attempt/make-attempt.ts';
import { createNoticeSender } from '../attempt/notice-sender.ts';
import { createPrepare } from '../attempt/prepare.ts';
import { createStatements } from '../attempt/statements.ts';
import type { DeliveryWatch } from '../attempt/watch.ts';
import type { Limits } from '../concurrency/limits.ts';
import type { SchedulerOptions } from '../concurrency/settings.ts';
import type { Starts } from '../concurrency/starts.ts';
import type { Pool } from '../db/pool.ts';
import { throughSessions } from '../db/through-sessions.ts';
import type { Sender } from '../delivery/sender.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import { started } from '../log/log.ts';
import type { Mailer } from '../mail/mail.ts';
import { createExecutions } from '../reconciler/executions.ts';
import { type Reconciler, startReconciler } from '../reconciler/reconciler.ts';
import type { Repair } from '../reconciler/repair.ts';
import type { WorkflowsSetting } from '../relay/deps.ts';
import { type Relay, type RelayOptions, startRelay } from '../relay/relay.ts';
import type { Keys } from '../secrets/keys.ts';
import { createDispatcher } from '../temporal/dispatcher.ts';
import { ownPolls } from '../temporal/own-polls.ts';
import type { Polling } from '../temporal/poll-until-stopped.ts';
import { keepSearchAttributes } from '../temporal/register-search-attributes.ts';
import { runTogether } from '../temporal/run-together.ts';
import { scheduleRetention } from '../temporal/schedule-retention.ts';
import { createNoticeStarter } from '../temporal/start-notice.ts';
import { createRecoveryStarter } from '../temporal/start-recovery.ts';
import { createWarningStarter } from '../temporal/start-warning.ts';
import { connectionOptions, type TemporalTarget } from '../temporal/target.ts';
import { tracedDispatcher } from '../temporal/traced-starts.ts';
import type { Traces } from '../traces/traces.ts';

/** Times that are not configurable. */
export interface Timings extends MailTimes {
  /** The time between two checks of the reconciler for late or ended workflows, in milliseconds; default 5 s. */
  readonly reconcileIntervalMs?: number;
  /** How late a record may be before the reconciler checks it, in milliseconds; default 5 s beyond an attempt. */
  readonly reconcileGraceMs?: number;
  /** The time between two looks at what the namespace must have, in milliseconds; default 15 s. */
  readonly lookMs?: number;
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
  readonly mailer: Mailer;
  /** Where e-shops reach the API, for the links in mails; null if unknown. */
  readonly publicUrl: string | null;
  readonly log: Logger;
  readonly retention: {
    /** The least time that events and deliveries are kept, in milliseconds. */
    readonly periodMs: number;
    /** Whether it runs on a schedule. */
    readonly scheduled: boolean;
  };
  /** Tests shorten these. */
  readonly timings?: Timings;
}

export interface SessionDeps extends SessionOptions {
  readonly traces: Traces;
  readonly workflowBundle: WorkflowBundleOption;
  readonly scheduler: SchedulerOptions;
  readonly limits: Limits;
  readonly underWay: AttemptDeps['underWay'];
  readonly starts: Starts;
  readonly watch: DeliveryWatch;
  /** Called with each repair of the reconciler. */
  readonly onRepair: (repair: Repair) => void;
  readonly onPass: RelayOptions['onPass'];
  readonly onClaim: RelayOptions['onClaim'];
  /** Called for each step of the retention that failed. */
  readonly onRetentionFailure: () => void;
  /** Called with the state of Temporal. */
  readonly onTemporal: RelayOptions['onTemporal'];
  /** Called when Temporal has answered a question of the reconciler. */
  readonly onQuestionAnswered: () => void;
  /** Called when Temporal has accepted a poll of this process. */
  readonly onPolled: () => void;
}

/** The end of a session, and its callbacks. */
interface SessionTerms {
  /** Ends its workers: another session takes over. Attempts of the queue go on until then, whatever Temporal does. */
  readonly renewal: AbortSignal;
  /** Ends it: no new claims, attempts under way finish. */
  readonly until: AbortSignal;
  readonly onReady: () => void;
  /** Called when Temporal may know less than the session's workers remember. */
  readonly onSetBack: (why: string) => void;
  /** Called when a worker has failed, or stops unasked: another session has to take over. */
  readonly onWorkerFailure: (reason: Error) => void;
}

/**
 * Waybill's own steps under way at once: 20 short ones, since more would only wait for a connection to the database.
 * Mails may take long, 20 at most (`activities/mail-once.ts`), and so may notices to URLs, 40 at most
 * (`activities/notice-places.ts`); neither holds a connection meanwhile. Runs of the retention are few.
 */
const MAX_STEPS_AT_ONCE = 80;
/**
 * A cached workflow takes 17 to 172 KiB, at most 0.3 MiB; one not cached costs a replay with every failed attempt.
 * All fit in a heap of 512 MB (docs/decisions/0021).
 */
const MAX_CACHED_WORKFLOWS = 1_000;
/**
 * Workflow tasks under way at once, of cached workflows and of others, and pollers for more, which take places too.
 * While more tasks of cached workflows wait than are polled for, the SDK polls for others with one poller: under full
 * load they wait for half a minute (docs/decisions/0021). More places: each task takes longer. Pollers take fewer
 * than half of the places, so that a workflow started here finds one.
 */
const MAX_WORKFLOW_TASKS_AT_ONCE = 100;
const MAX_WORKFLOW_POLLERS = 40;
/**
 * How long a workflow waits for its last worker, in milliseconds. After a worker's death the default of 10 s would
 * delay an activation by as much; much less would cost replays under load.
 */
const STICKY_TIMEOUT_MS = 3_000;
/**
 * Heartbeats are sent at most this often, in milliseconds: three until a worker counts as dead. With the SDK's
 * default, four fifths of that time, none could be late.
 */
const HEARTBEAT_THROTTLE_MS = 1_500;
/** The settings of the worker of deliveries. The benchmark's floor uses the same. */
export const deliveryWorkerTuning = {
  maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
  maxConcurrentWorkflowTaskExecutions: MAX_WORKFLOW_TASKS_AT_ONCE,
  workflowTaskPollerBehavior: { type: 'autoscaling', maximum: MAX_WORKFLOW_POLLERS },
  stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT_MS,
  maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
} as const;
/** Beyond the attempt's own time-out, in milliseconds: time to record and report it. */
const SHUTDOWN_SLACK_MS = 5_000;
/** The time between two checks of the reconciler for late or ended workflows, in milliseconds. */
const RECONCILE_INTERVAL_MS = 5_000;
/** Beyond the attempt's own time-out, in milliseconds: a record less late than this is still being worked on. */
const RECONCILE_SLACK_MS = 5_000;

/** Connects, works until stopped or the worker fails, and cleans up. @throws the connection's or worker's error */
export async function runSession(
  deps: SessionDeps,
  { renewal, until, onReady, onSetBack, onWorkerFailure }: SessionTerms,
): Promise<void> {
  const {
    reconcileIntervalMs = RECONCILE_INTERVAL_MS,
    reconcileGraceMs = deps.policy.attemptTimeoutMs + RECONCILE_SLACK_MS,
    lookMs,
    noticeWaitsMs,
    ...mailTimes
  } = deps.timings ?? {};
  const { temporal, retention, log, traces, limits, underWay, starts, watch, scheduler } = deps;
  const connection = await NativeConnection.connect(connectionOptions(temporal));
  const client = new Client({ connection, namespace: temporal.namespace });
  const workers: Worker[] = [];
  const stopped: (() => void)[] = [];
  let relay: Relay | undefined;
  let reconciler: Reconciler | undefined;
  const looking: Polling[] = [];
  try {
    looking.push(await keepSearchAttributes(connection, temporal.namespace, log, lookMs));
    if (retention.scheduled) looking.push(await scheduleRetention(client, temporal.taskQueue, log, lookMs));
    const dispatcher = tracedDispatcher(
      createDispatcher(client, temporal.taskQueue, deps.policy, mailTimes),
      traces,
    );
    const recoveries = createRecoveryStarter(client, temporal.taskQueue);
    const { sql, sessionSql, sender, keys, policy } = deps;
    const execute = throughSessions(sql, sessionSql);
    const statements = createStatements(sql, execute);
    const attemptDeps = {
      sql,
      statements,
      sender,
      prepare: createPrepare(keys),
      limits,
      underWay,
      log,
      watch,
      traces,
    };
    const { attempts, steps: ownSteps } = createActivities({
      ...attemptDeps,
      mailer: deps.mailer,
      sendNotice: createNoticeSender({ sender, keys }),
      ...(noticeWaitsMs === undefined ? {} : { noticeWaitsMs }),
      publicUrl: deps.publicUrl,
      policy,
      retentionMs: retention.periodMs,
      onRetentionFailure: deps.onRetentionFailure,
      signalAttemptFailed: (workflowId, attempt) => dispatcher.signalAttemptFailed(workflowId, attempt),
    });
    const { namespace, taskQueue } = temporal;
    const common = {
      connection,
      namespace,
      maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
      shutdownGraceTime: deps.policy.attemptTimeoutMs + SHUTDOWN_SLACK_MS,
      // One that does not end all the same has failed.
      shutdownForceTime: deps.policy.attemptTimeoutMs + 2 * SHUTDOWN_SLACK_MS,
    };
    const steps = await Worker.create({
      ...common,
      taskQueue: stepsQueue(taskQueue),
      activities: ownSteps,
      maxConcurrentActivityTaskExecutions: MAX_STEPS_AT_ONCE,
    });
    workers.push(steps);
    const deliveries = await Worker.create({
      ...common,
      taskQueue,
      activities: attempts,
      ...deliveryWorkerTuning,
      workflowBundle: deps.workflowBundle,
      maxConcurrentActivityTaskExecutions: scheduler.attempts,
    });
    workers.push(deliveries);
    const polled = ownPolls(client, taskQueue, deliveries.options.identity);
    reconciler = startReconciler({
      sql: deps.sql,
      executions: createExecutions(client, temporal.taskQueue),
      restarter: { ...dispatcher, ...recoveries },
      log,
      watch,
      onRepair: deps.onRepair,
      onSetBack,
      async onAnswered() {
        deps.onQuestionAnswered();
        if (await polled()) deps.onPolled();
      },
      intervalMs: reconcileIntervalMs,
      graceMs: reconcileGraceMs,
    });
    relay = startRelay({
      sql,
      policy,
      makeAttempt: ({ id: deliveryId, attemptsMade }, queue, signals) =>
        makeAttempt(
          attemptDeps,
          { deliveryId, policy, lastChance: false, expectedNumber: attemptsMade + 1, queue },
          signals,
        ),
      execute,
      sessionSql,
      dispatcher,
      recoveries,
      warnings: createWarningStarter(client, temporal.taskQueue, mailTimes),
      notices: createNoticeStarter(client, temporal.taskQueue, mailTimes),
      workflows: deps.workflows,
      limits,
      starts,
      options: scheduler,
      log,
      watch,
      onPass: deps.onPass,
      onClaim: deps.onClaim,
      onTemporal: deps.onTemporal,
    });
    for (const part of ['worker', 'reconciler', 'relay'])
      stopped.push(started(log, part, { namespace, taskQueue }));
    deps.onTemporal('up');
    onReady();
    const running = [reconciler, relay];
    const relaying = aborted(until).then(() => Promise.all(running.map((part) => part.stop())));
    const ended = await Promise.allSettled([
      runTogether(
        workers.splice(0),
        async () => {
          await Promise.race([aborted(renewal), aborted(until)]);
          if (until.aborted) await relaying;
        },
        onWorkerFailure,
      ),
      relaying,
    ]);
    for (const part of ended) if (part.status === 'rejected') throw part.reason;
  } finally {
    // Workers that were created but never run would keep the connection open.
    await runTogether(workers, async () => {});
    await reconciler?.stop();
    await relay?.stop();
    await Promise.all(looking.map((each) => each.stop()));
    await relay?.ended();
    // It may have failed already: nothing is left to close then.
    await connection.close().catch(() => {});
    for (const say of stopped.reverse()) say();
  }
}

export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
