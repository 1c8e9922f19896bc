/** The two workers of Temporal's SDK in a session: one for deliveries with their workflows, one for other steps. */
import { type NativeConnection, Worker } from '@temporalio/worker';
import type { createActivities } from '../../activities/index.ts';
import { stepsQueue } from '../../workflows/delivery-types.ts';
import { processIdentity } from '../lib/process-identity.ts';
import type { SessionDeps } from './session-deps.ts';

/**
 * The most of Waybill's own steps at once: 20 short ones, since more would only wait for a connection to the
 * database. Up to 20 mails (`activities/mail-once.ts`) and 40 notices to URLs (`activities/notice-places.ts`) may
 * take long, but hold no connection while they wait. Runs of the retention are few.
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
 * load they wait for half a minute (docs/decisions/0021). Too high: each task takes longer. Pollers take fewer than
 * half of the places, so that a workflow started here finds one.
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

/** @param connection that both poll on */
export function sdkWorkers(
  { temporal, policy, scheduler, workflowBundle }: SessionDeps,
  connection: NativeConnection,
  { attempts, steps }: ReturnType<typeof createActivities>,
) {
  const { namespace, taskQueue } = temporal;
  const common = {
    connection,
    namespace,
    identity: processIdentity,
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    shutdownGraceTime: policy.attemptTimeoutMs + SHUTDOWN_SLACK_MS,
    // A worker that still does not end has failed.
    shutdownForceTime: policy.attemptTimeoutMs + 2 * SHUTDOWN_SLACK_MS,
  };
  return {
    steps: () =>
      Worker.create({
        ...common,
        taskQueue: stepsQueue(taskQueue),
        activities: steps,
        maxConcurrentActivityTaskExecutions: MAX_STEPS_AT_ONCE,
      }),
    deliveries: () =>
      Worker.create({
        ...common,
        taskQueue,
        activities: attempts,
        ...deliveryWorkerTuning,
        workflowBundle,
        maxConcurrentActivityTaskExecutions: scheduler.attempts,
      }),
  };
}
