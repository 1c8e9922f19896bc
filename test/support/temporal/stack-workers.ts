/** The workers of a delivery stack, on the real Temporal server, with what they log and count. */
import type { WorkflowBundleOption } from '@temporalio/worker';
import pino from 'pino';
import type { Timings } from '../../../src/app/session-deps.ts';
import { type RunningWorker, startWorker } from '../../../src/app/worker-role.ts';
import type { Limits } from '../../../src/concurrency/limits.ts';
import type { SchedulerOptions } from '../../../src/concurrency/settings.ts';
import type { Pool } from '../../../src/db/connection/pool.ts';
import { createSender, type Sender } from '../../../src/delivery/sender.ts';
import type { RetryPolicy } from '../../../src/domain/retry-policy.ts';
import type { Mailer } from '../../../src/mail/mail.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';
import type { WorkflowsSetting } from '../../../src/relay/deps.ts';
import type { Keys } from '../../../src/secrets/keys.ts';
import { sampleOf, samplesOf } from '../metrics.ts';
import { builtWorkflows } from '../programs/built.ts';
import { until } from '../until.ts';

/** A line of the log, as JSON. */
interface LogLine {
  /** pino's: 30 info, 40 warn, 50 error. */
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Settings of all workers of a stack. */
export interface WorkerOptions {
  /** Wraps the sender, e.g. to interrupt an attempt. */
  readonly wrapSender?: (sender: Sender) => Sender;
  /** The address at which the worker reaches the Temporal server, e.g. of a proxy; default: the server's own. */
  readonly workerTemporalAddress?: string;
  /** Default: `all`. */
  readonly workflows?: WorkflowsSetting;
  /** How long events and deliveries are kept; default: the retention does not run. */
  readonly retentionMs?: number;
  readonly limits?: Limits;
  /** Replaces numbers of the scheduler. */
  readonly scheduler?: Partial<SchedulerOptions>;
  readonly timings?: Timings;
}

/** Settings of a worker that differ from the stack's. */
interface OtherWorker {
  /** Where it reaches Temporal. */
  readonly temporalAddress?: string;
  readonly policy?: Partial<RetryPolicy>;
  readonly workflowBundle?: WorkflowBundleOption;
  readonly onBroken?: (error: Error) => void;
}

/** What all workers of a stack share. */
interface Shared {
  readonly sql: Pool;
  readonly keys: Keys;
  readonly policy: RetryPolicy;
  readonly mailer: Mailer;
  /** Of the Temporal server. */
  readonly address: string;
  readonly taskQueue: string;
}

/** No worker runs until `startWorker()`. */
export function createStackWorkers({ address, taskQueue, ...shared }: Shared, options: WorkerOptions) {
  const logged: LogLine[] = [];
  const log = pino(
    { level: 'debug' },
    {
      write(text: string) {
        logged.push(JSON.parse(text));
        if (process.env.TEST_LOG_LEVEL !== undefined) process.stdout.write(text);
      },
    },
  );
  const senders: Sender[] = [];
  const running: RunningWorker[] = [];
  const metrics = createMetrics();
  let worker: RunningWorker | undefined;
  /** Lines from before it was started. */
  let loggedBefore = 0;
  let emptyBefore = 0;
  /** How often the relay has found no import waiting. It looks for one only when nothing fresh waits. */
  const foundEmpty = async () =>
    sampleOf(samplesOf(await metrics.registry.metrics()), 'waybill_relay_passes_total', {
      loop: 'bulk',
      result: 'idle',
    }) ?? 0;

  const workers = {
    /** What the worker has logged so far. */
    logged,
    /** What the workers have counted so far. */
    metrics,

    /** @param other overrides the stack's policy, or the workflows of this build */
    async startWorker(other: OtherWorker = {}): Promise<void> {
      loggedBefore = logged.length;
      emptyBefore = await foundEmpty();
      worker = await workers.newWorker(other);
    },

    async newWorker(other: OtherWorker = {}): Promise<RunningWorker> {
      const real = createSender({
        timeoutMs: shared.policy.attemptTimeoutMs,
        allowCidrs: ['127.0.0.0/8', '::1/128'],
        version: 'test',
      });
      const sender = options.wrapSender?.(real) ?? real;
      senders.push(real);
      const started = await startWorker({
        ...shared,
        sessionSql: shared.sql,
        temporal: {
          address: other.temporalAddress ?? options.workerTemporalAddress ?? address,
          namespace: 'default',
          taskQueue,
        },
        policy: { ...shared.policy, ...other.policy },
        workflows: options.workflows ?? 'all',
        sender,
        isDiskFull: () => false,
        publicUrl: null,
        log,
        metrics,
        retention: {
          periodMs: options.retentionMs ?? 30 * 24 * 3_600_000,
          scheduled: options.retentionMs !== undefined,
        },
        ...(options.scheduler === undefined ? {} : { scheduler: options.scheduler }),
        ...(options.limits === undefined ? {} : { limits: options.limits }),
        ...(options.timings === undefined ? {} : { timings: options.timings }),
        workflowBundle: other.workflowBundle ?? builtWorkflows,
        ...(other.onBroken === undefined ? {} : { onBroken: other.onBroken }),
      });
      running.push(started);
      return started;
    },

    /** The repairs of the worker's reconciler since its start, by its log. */
    repaired() {
      const counts = new Map<string, Record<'kind' | 'action' | 'reason', unknown> & { count: number }>();
      for (const { repaired: kind, action, reason } of logged.slice(loggedBefore)) {
        if (kind === undefined) continue;
        const key = `${kind} ${action} ${reason}`;
        counts.set(key, { kind, action, reason, count: (counts.get(key)?.count ?? 0) + 1 });
      }
      return [...counts.values()];
    },

    async stopWorker(): Promise<void> {
      await worker?.stop();
      worker = undefined;
    },

    /** Until the worker has seen an empty queue: from then on a workflow starts with the first attempt's result. */
    untilCalm: (): Promise<boolean> =>
      until('an empty queue', async () => (await foundEmpty()) > emptyBefore),

    /** Stops all workers, and closes what they have used. */
    async closeWorkers(): Promise<void> {
      await Promise.all(running.map((each) => each.stop()));
      await shared.sql.notifier.close();
      await Promise.all(senders.map((sender) => sender.close()));
    },
  };
  return workers;
}
