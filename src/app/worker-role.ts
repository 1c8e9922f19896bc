/**
 * The worker role: one session after the other. It starts even if Temporal is unavailable, and goes on by itself when
 * Temporal is back. A session begins with a connection to Temporal, and keeps making attempts if Temporal becomes
 * unavailable later; until the first session begins, the queue is run alone. When Temporal answers again, a new
 * session takes over.
 *
 * Module app, which imports activities, api, attempt, concurrency, config, console, db, delivery, domain, embedded,
 * http, lib, log, mail, metrics, reconciler, relay, retention, secrets, temporal, theme, traces, workflows. Begin:
 * `api-role.ts`, this file and `../main.ts`, which starts both.
 */
import type { WorkflowBundleOption } from '@temporalio/worker';
import { compensationTurns } from '../attempt/compensate.ts';
import { watchBoth } from '../attempt/watch.ts';
import { createLimits, type Limits } from '../concurrency/limits.ts';
import { type SchedulerOptions, settingsFor } from '../concurrency/settings.ts';
import { createStarts } from '../concurrency/starts.ts';
import { createBackoff } from '../lib/backoff.ts';
import { UserError } from '../lib/user-error.ts';
import { aborted, waitOrStop } from '../lib/wait-or-stop.ts';
import { logDeliveries } from '../log/delivery-log.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import {
  countDeliveries,
  countMails,
  countPasses,
  countRepairs,
  recordClaims,
} from '../metrics/worker-metrics.ts';
import { emptyMemory } from '../reconciler/reconciler.ts';
import { watchDatabaseClock } from '../reconciler/watch-clock.ts';
import { routeTemporalLogs } from '../temporal/logs.ts';
import { AbandonedWorker } from '../temporal/run-together.ts';
import { loadWorkflowBundle } from '../temporal/workflow-bundle.ts';
import { type Traces, untraced } from '../traces/traces.ts';
import type { SessionDeps, SessionOptions } from './session-deps.ts';
import { createTemporalState, logChanges } from './temporal-state.ts';
import { runQueueAlone, runSession } from './worker-session.ts';

interface WorkerOptions extends SessionOptions {
  /** Where events are counted; left out: the counts are not shown. */
  readonly metrics?: Metrics;
  /** Where Temporal's SDK shows its own metrics, as `host:port`; left out: nowhere. */
  readonly sdkMetricsAddress?: string;
  readonly traces?: Traces | undefined;
  /** Numbers of the scheduler instead of the defaults, and other limits: for tests and the bench. */
  readonly scheduler?: Partial<SchedulerOptions>;
  readonly limits?: Limits;
  /** Other workflows than this build's own. */
  readonly workflowBundle?: WorkflowBundleOption;
  /** Called when the role cannot go on in this process, which must end. */
  readonly onBroken?: (error: Error) => void;
}

export type RunningWorker = Awaited<ReturnType<typeof startWorker>>;

/** The waits between tries to reach Temporal, in milliseconds. */
const FIRST_RECONNECT_MS = 250;
const MAX_RECONNECT_DELAY_MS = 5_000;
/** The least time between two renewals of the workers: an unstable connection must not cause many. */
const RENEWAL_SPACING_MS = 30_000;
/** The wait after a failed worker. Too low: workers that fail at once use up the CPU. Too high: work stands still. */
const AFTER_FAILURE_MS = 2_000;
/**
 * Failed workers that may stay in memory, each with its connection, threads and up to a thousand workflows. Too low:
 * a Temporal that refuses polls for minutes ends the process, with its API. Too high: memory runs out first.
 */
const MAX_ABANDONED = 5;
const TOO_MANY_ABANDONED = `Temporal's SDK has given up polling ${MAX_ABANDONED} times: the log says why. This process exits, so that its supervisor restarts it.`;

/**
 * Starts the role; resolves once it runs or keeps trying in the background.
 */
export async function startWorker(options: WorkerOptions) {
  const { log, metrics = createMetrics(), traces = untraced } = options;
  routeTemporalLogs(log, options.sdkMetricsAddress);
  const workflowBundle = options.workflowBundle ?? (await loadWorkflowBundle());
  const stopping = new AbortController();
  const scheduler = settingsFor(options.policy.attemptTimeoutMs, options.scheduler);
  const temporalState = createTemporalState({ onChange: logChanges(log) });
  const clock = watchDatabaseClock({
    sql: options.sql,
    log,
    onStep: ({ ms }) => metrics.clockSteps.inc({ direction: ms < 0 ? 'back' : 'ahead' }),
    onRead: (differenceMs) => metrics.clockDifference.set(differenceMs / 1_000),
  });
  const limits = options.limits ?? createLimits(scheduler);
  const sessionDeps: SessionDeps = {
    ...options,
    mailer: countMails(metrics, options.mailer),
    traces,
    workflowBundle,
    scheduler,
    limits,
    underWay: new Set(),
    compensations: compensationTurns(),
    starts: createStarts(scheduler),
    watch: watchBoth(countDeliveries(metrics), logDeliveries(log)),
    reconcilerMemory: emptyMemory(),
    lookAtClock: clock.look,
    onRepair: countRepairs(metrics),
    onPass: countPasses(metrics),
    onClaim: recordClaims(metrics),
    onRetentionFailure: () => metrics.retentionFailures.inc(),
    // A session reports that it is up once the SDK has asked for the namespace, over the worker's own connection.
    onTemporal: temporalState.set,
    onQuestionAnswered: temporalState.questionAnswered,
    onPolled: temporalState.polled,
  };

  /** When the workers were last renewed, on a clock that does not jump. */
  let renewedAt = Number.NEGATIVE_INFINITY;

  let abandoned = 0;
  function countAbandoned(error: unknown): void {
    if (!(error instanceof AbandonedWorker)) return;
    abandoned += 1;
    if (abandoned === MAX_ABANDONED) options.onBroken?.(new UserError(TOO_MANY_ABANDONED));
  }

  async function keepRunning(onReady: () => void): Promise<void> {
    const backoff = createBackoff(FIRST_RECONNECT_MS, MAX_RECONNECT_DELAY_MS);
    /** Sessions that are being replaced: until the next one is ready, then for as long as their attempts last. */
    const draining = new Set<Promise<void>>();
    const drain = (work: Promise<void>) => {
      const drained = work
        .catch((error: unknown) => {
          log.warn({ err: error }, 'workers that were replaced failed');
          countAbandoned(error);
        })
        .finally(() => draining.delete(drained));
      draining.add(drained);
    };
    /** Ends what attempts the deliveries of the queue: a session, or the queue alone; null if nothing does. */
    let endRelaying: (() => void) | null = null;
    while (!stopping.signal.aborted) {
      const renewal = new AbortController();
      const replaced = new AbortController();
      let failed = false;
      const current = runSession(sessionDeps, {
        renewal: renewal.signal,
        until: AbortSignal.any([stopping.signal, replaced.signal]),
        onReady() {
          backoff.reset();
          // Not earlier: Temporal may be unavailable again, for a long time.
          endRelaying?.();
          endRelaying = () => replaced.abort();
          onReady();
        },
        onSetBack(why) {
          if (performance.now() - renewedAt < RENEWAL_SPACING_MS || renewal.signal.aborted) return;
          renewedAt = performance.now();
          renewal.abort(why);
        },
        onWorkerFailure(reason) {
          if (renewal.signal.aborted) return;
          failed = true;
          renewal.abort(reason);
        },
      });
      try {
        await Promise.race([current, aborted(renewal.signal)]);
        if (!renewal.signal.aborted) continue;
        drain(current);
        const why: unknown = renewal.signal.reason;
        if (failed) {
          temporalState.workerFailed();
          log.error({ err: why }, "a worker of Temporal's SDK failed: others take over");
          await waitOrStop(options.timings?.afterFailureMs ?? AFTER_FAILURE_MS, stopping.signal);
        } else log.warn({ why }, 'Temporal may have been set back: workers with an empty cache take over');
      } catch (error) {
        temporalState.set('down', error);
        if (endRelaying === null) {
          const alone = new AbortController();
          endRelaying = () => alone.abort();
          drain(runQueueAlone(sessionDeps, AbortSignal.any([stopping.signal, alone.signal])));
        }
        onReady();
        const retryInMs = backoff.next();
        log.warn({ err: error, retryInMs }, 'Temporal cannot be reached or the worker failed');
        countAbandoned(error);
        await waitOrStop(retryInMs, stopping.signal);
      }
    }
    await Promise.all(draining);
  }

  let running: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve) => {
    running = keepRunning(resolve);
  });
  return {
    temporalState: temporalState.get,
    /** Whether Temporal has ever admitted it to its namespace; stays true while Temporal is unavailable. */
    hasReachedTemporal: temporalState.hasReached,
    limits,
    /** Drains: no new claims; attempts under way finish. */
    async stop(): Promise<void> {
      stopping.abort();
      await running;
      await clock.stop();
    },
  };
}
