/**
 * The worker role: the relay and a Temporal worker on one connection. It starts while Temporal is away, and goes
 * on by itself when Temporal is back.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import { createActivities } from '../activities/index.ts';
import { batchWorkflowId } from '../workflows/batch-types.ts';
import { stepsQueue } from '../workflows/delivery-types.ts';
import { type BatchRooms, createDestinations, createRooms, type Rooms } from './attempt/rooms.ts';
import { BATCH_SLOTS, createSlots } from './attempt/slots.ts';
import { createTrial } from './attempt/trial.ts';
import { together } from './attempt/watch.ts';
import type { Pool } from './db/pool.ts';
import type { Sender } from './delivery/sender.ts';
import { warningTimes } from './domain/incident.ts';
import type { RetryPolicy } from './domain/retry-policy.ts';
import { eitherSignal } from './either-signal.ts';
import { countDeliveries } from './figures/delivery-figures.ts';
import { createFigures, type Figures } from './figures/figures.ts';
import { countMails, countMends, countRounds } from './figures/worker-figures.ts';
import type { Keys } from './keys.ts';
import { logDeliveries } from './log/delivery-log.ts';
import { started } from './log/log.ts';
import type { Mailer } from './mail/mail.ts';
import { type Counts, createCounts } from './reconciler/counts.ts';
import { createExecutions } from './reconciler/executions.ts';
import { type Reconciler, startReconciler } from './reconciler/reconciler.ts';
import type { FirstAttempts } from './relay/lane.ts';
import { type Relay, startRelay } from './relay/relay.ts';
import { createDispatcher } from './temporal/dispatcher.ts';
import { routeTemporalLogs } from './temporal/logs.ts';
import { registerSearchAttributes } from './temporal/register-search-attributes.ts';
import { runTogether } from './temporal/run-together.ts';
import { scheduleRetention } from './temporal/schedule-retention.ts';
import { createBatchStarter } from './temporal/start-batch.ts';
import { createRecoveryStarter } from './temporal/start-recovery.ts';
import { createWarningStarter } from './temporal/start-warning.ts';
import { connectionOptions, type TemporalTarget } from './temporal/target.ts';
import { tracedBatches, tracedDispatcher } from './temporal/traced-starts.ts';
import { loadWorkflowBundle } from './temporal/workflow-bundle.ts';
import { type Traces, untraced } from './traces/traces.ts';
import { version } from './version.ts';

/** What the worker role receives. */
export interface WorkerOptions {
  readonly sql: Pool;
  readonly temporal: TemporalTarget;
  readonly policy: RetryPolicy;
  readonly firstAttempts: FirstAttempts;
  readonly keys: Keys;
  readonly sender: Sender;
  readonly mailer: Mailer;
  /** Where e-shops reach the API, for the links in mails; null: not known. */
  readonly publicUrl: string | null;
  readonly log: Logger;
  /** Where everything is counted; left out: nowhere that anybody sees. */
  readonly figures?: Figures;
  /** Where Temporal's SDK shows its own, as `host:port`; left out: nowhere. */
  readonly sdkFigures?: string;
  /** Left out: traces are off. */
  readonly traces?: Traces;
  readonly retention: {
    /** How long events and deliveries are kept at least, in milliseconds. */
    readonly periodMs: number;
    /** Whether it runs by itself. */
    readonly scheduled: boolean;
  };
  /** Tests shorten these. */
  readonly reconciling?: { readonly intervalMs: number; readonly graceMs: number };
  /** Attempts under way at once, and the bounds within; tests choose theirs. */
  readonly attemptsAtOnce?: number;
  readonly rooms?: Rooms;
  readonly batchRooms?: BatchRooms;
  /** Other workflows than this build's own. */
  readonly workflowBundle?: WorkflowBundleOption;
}

/** A running worker role. */
export interface RunningWorker {
  temporalState(): 'up' | 'down' | 'unknown';
  /** What the reconciler repaired since the start. */
  readonly repaired: Pick<Counts, 'read'>;
  /** Drains: no new claims, attempts under way finish. */
  stop(): Promise<void>;
}

/** Attempts under way at once: they wait for receivers far more than they compute. */
const MAX_ATTEMPTS_AT_ONCE = 200;
/** Waybill's own steps under way at once: short, on a database with ten connections. */
const MAX_STEPS_AT_ONCE = 40;
/**
 * A cached workflow takes 17 to 172 KiB, at most 0.3 MiB; one that is not costs a replay with every failed attempt. All of them fit
 * in a heap of 512 MB (docs/decisions/0021).
 */
const MAX_CACHED_WORKFLOWS = 1_000;
/**
 * How long a workflow waits for the worker that last had it, in milliseconds. The default of 10 s would delay an
 * activation by as much after a worker died; much less would cost replays under load.
 */
const STICKY_TIMEOUT_MS = 3_000;
/**
 * Heartbeats leave at most this often, in milliseconds: three in the time after which a worker counts as dead. The
 * SDK's own rule, four fifths of that time, would leave room for none to be late.
 */
const HEARTBEAT_THROTTLE_MS = 1_500;
/** How the worker of deliveries is set. The benchmark's floor takes the same. */
export const deliveryWorkerTuning = {
  maxConcurrentActivityTaskExecutions: MAX_ATTEMPTS_AT_ONCE,
  maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
  stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT_MS,
  maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
} as const;
/** Behind the attempt's own time-out, in milliseconds: time to record and report it. */
const SHUTDOWN_SLACK_MS = 5_000;
/** Between two looks of the reconciler at what is late or was ended in Temporal, in milliseconds. */
const RECONCILE_INTERVAL_MS = 5_000;
/** Behind the attempt's own time-out, in milliseconds: what is late by less is on its way. */
const RECONCILE_SLACK_MS = 5_000;
/** Waits between tries to reach Temporal, in milliseconds. */
const FIRST_RECONNECT_MS = 250;
const LONGEST_RECONNECT_MS = 5_000;
/** Between two renewals of the workers, in milliseconds: a connection that comes and goes must not cost more than itself. */
const RENEWAL_SPACING_MS = 30_000;

/**
 * Starts the role; resolves once it runs or keeps trying in the background.
 */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { log, figures = createFigures(), traces = untraced } = options;
  routeTemporalLogs(log, options.sdkFigures);
  const workflowBundle = options.workflowBundle ?? (await loadWorkflowBundle());
  const stopping = new AbortController();
  const repaired = countMends(figures, createCounts());
  const watch = together(countDeliveries(figures), logDeliveries(log));
  const mailer = countMails(figures, options.mailer);
  const onRound = countRounds(figures);
  const slots = createSlots(BATCH_SLOTS);
  const destinations = createDestinations();
  const { attemptsAtOnce = MAX_ATTEMPTS_AT_ONCE } = options;
  const rooms = options.rooms ?? createRooms(attemptsAtOnce, undefined, destinations);
  const batchRooms = options.batchRooms ?? createRooms(BATCH_SLOTS, undefined, destinations);
  let state: 'up' | 'down' | 'unknown' = 'unknown';

  /**
   * Connects, works until told to stop or until the worker fails, and cleans up.
   * @param onSetBack told when Temporal may know less than the session's workers remember
   */
  async function session(
    until: AbortSignal,
    onReady: () => void,
    onSetBack: (why: string) => void,
  ): Promise<void> {
    const { temporal, retention } = options;
    const connection = await NativeConnection.connect(connectionOptions(temporal));
    const client = new Client({ connection, namespace: temporal.namespace });
    const workers: Worker[] = [];
    const stopped: (() => void)[] = [];
    let relay: Relay | undefined;
    let reconciler: Reconciler | undefined;
    try {
      await registerSearchAttributes(connection, temporal.namespace, log);
      if (retention.scheduled) await scheduleRetention(client, temporal.taskQueue, log);
      const dispatcher = tracedDispatcher(
        createDispatcher(client, temporal.taskQueue, options.policy),
        traces,
      );
      const starter = tracedBatches(
        createBatchStarter(client, { taskQueue: temporal.taskQueue, policy: options.policy }),
        traces,
      );
      const recoveries = createRecoveryStarter(client, temporal.taskQueue);
      const activities = createActivities({
        sql: options.sql,
        sender: options.sender,
        keys: options.keys,
        mailer,
        publicUrl: options.publicUrl,
        policy: options.policy,
        retentionMs: retention.periodMs,
        rooms,
        log,
        watch,
        traces,
        slots,
        batchRooms,
        stopping: until,
        trial: createTrial({ sender: options.sender, keys: options.keys, version }),
        signalAttemptFailed: (workflowId, attempt) => dispatcher.signalAttemptFailed(workflowId, attempt),
      });
      const { namespace, taskQueue } = temporal;
      // All activities on either queue: deliveries of an older release have their steps where they began.
      const common = {
        connection,
        namespace,
        activities,
        maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
        shutdownGraceTime: options.policy.attemptTimeoutMs + SHUTDOWN_SLACK_MS,
      };
      const steps = await Worker.create({
        ...common,
        taskQueue: stepsQueue(taskQueue),
        maxConcurrentActivityTaskExecutions: MAX_STEPS_AT_ONCE,
      });
      workers.push(steps);
      const deliveries = await Worker.create({
        ...common,
        taskQueue,
        ...deliveryWorkerTuning,
        workflowBundle,
        maxConcurrentActivityTaskExecutions: attemptsAtOnce,
      });
      workers.push(deliveries);
      const checking = startReconciler({
        sql: options.sql,
        executions: createExecutions(client, temporal.taskQueue),
        restarter: { ...dispatcher, ...starter, ...recoveries },
        log,
        watch,
        counts: repaired,
        onSetBack,
        ...(options.reconciling ?? {
          intervalMs: RECONCILE_INTERVAL_MS,
          graceMs: options.policy.attemptTimeoutMs + RECONCILE_SLACK_MS,
        }),
      });
      reconciler = checking;
      relay = startRelay({
        sql: options.sql,
        dispatcher,
        handedBack: dispatcher,
        recovered: dispatcher,
        recoveries,
        warnings: createWarningStarter(client, temporal.taskQueue),
        warningTerms: warningTimes(options.policy),
        starter,
        checkBatch: (batchId) => checking.check([batchWorkflowId(batchId)]),
        slots,
        firstAttempts: options.firstAttempts,
        limits: rooms.limits,
        batchLimits: batchRooms.claimLimits,
        log,
        watch,
        onRound,
        onTemporal: (now) => {
          state = now;
        },
      });
      for (const part of ['worker', 'reconciler', 'relay'])
        stopped.push(started(log, part, { namespace, taskQueue }));
      state = 'up';
      onReady();
      const running = [reconciler, relay];
      await runTogether(workers.splice(0), async () => {
        await aborted(until);
        await Promise.all(running.map((part) => part.stop()));
      });
    } finally {
      // Made and never run: they would keep the connection.
      await runTogether(workers, async () => {});
      await reconciler?.stop();
      await relay?.stop();
      await connection.close().catch(() => {});
      for (const say of stopped.reverse()) say();
    }
  }

  /** The last session that workers were renewed for, on a clock that does not jump. */
  let renewedAt = Number.NEGATIVE_INFINITY;

  async function keepRunning(onReady: () => void): Promise<void> {
    let wait = FIRST_RECONNECT_MS;
    /** Sessions that another has taken over from, as long as their attempts last. */
    const draining = new Set<Promise<void>>();
    while (!stopping.signal.aborted) {
      const renewal = new AbortController();
      const until = eitherSignal([stopping.signal, renewal.signal]);
      const current = session(
        until.signal,
        () => {
          wait = FIRST_RECONNECT_MS;
          onReady();
        },
        (why) => {
          if (performance.now() - renewedAt < RENEWAL_SPACING_MS || renewal.signal.aborted) return;
          renewedAt = performance.now();
          renewal.abort(why);
        },
      ).finally(until.release);
      try {
        await Promise.race([current, aborted(renewal.signal)]);
        if (!renewal.signal.aborted) continue;
        const why: unknown = renewal.signal.reason;
        log.warn({ why }, 'Temporal may have been set back: workers with an empty memory take over');
        const drained = current
          .catch((error: unknown) => log.warn({ err: error }, 'workers that were replaced failed'))
          .finally(() => draining.delete(drained));
        draining.add(drained);
      } catch (error) {
        state = 'down';
        onReady();
        log.warn({ err: error, retryInMs: wait }, 'Temporal cannot be reached or the worker failed');
        await sleep(wait, undefined, { signal: stopping.signal }).catch(() => {});
        wait = Math.min(LONGEST_RECONNECT_MS, wait * 2);
      }
    }
    await Promise.all(draining);
  }

  let running: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve) => {
    running = keepRunning(resolve);
  });
  return {
    temporalState: () => state,
    repaired,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
