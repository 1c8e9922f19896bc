/** A session of the worker role: relay, reconciler and Temporal workers on one connection, until it fails or ends. */
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { createActivities } from '../../activities/index.ts';
import { makeAttempt } from '../attempt/make-attempt.ts';
import { createPrepare } from '../attempt/prepare.ts';
import { createStatements } from '../attempt/statements.ts';
import { throughSessions } from '../db/connection/through-sessions.ts';
import { processIdentity } from '../lib/process-identity.ts';
import { createShutdown } from '../lib/shutdown.ts';
import { aborted } from '../lib/wait-or-stop.ts';
import { logStarted } from '../log/log.ts';
import { createExecutions } from '../reconciler/executions.ts';
import { startOrReplace } from '../reconciler/notices.ts';
import { startReconciler } from '../reconciler/reconciler.ts';
import type { MakeQueueAttempt } from '../relay/deps.ts';
import { type Relay, startRelay } from '../relay/relay.ts';
import { createDispatcher } from '../temporal/dispatcher.ts';
import { ownPolls } from '../temporal/pollers.ts';
import { keepSearchAttributes } from '../temporal/register-search-attributes.ts';
import { runTogether } from '../temporal/run-together.ts';
import { scheduleRetention } from '../temporal/schedule-retention.ts';
import { createStartNotice } from '../temporal/start-notice.ts';
import { createRecoveryStarter } from '../temporal/start-recovery.ts';
import { connectionOptions } from '../temporal/target.ts';
import { sdkWorkers } from './sdk-workers.ts';
import type { SessionDeps, SessionTerms } from './session-deps.ts';

/** The time between two checks of the reconciler for late or ended workflows, in milliseconds. */
const RECONCILE_INTERVAL_MS = 5_000;
/** Beyond the attempt's own time-out, in milliseconds: a record less late than this is still being worked on. */
const RECONCILE_SLACK_MS = 5_000;

/** Connects, works until stopped or the worker fails, and cleans up. @throws the connection's or worker's error */
export async function runSession(deps: SessionDeps, terms: SessionTerms): Promise<void> {
  const { temporal, retention, log, timings = {} } = deps;
  const { namespace, taskQueue } = temporal;
  const stopped: (() => void)[] = [];
  const workers: Worker[] = [];
  let relay: Relay | undefined;
  // Each part is added with the function that stops it. They are stopped in reverse order, even if a later part could
  // not be started.
  const parts = createShutdown((problem) => log.warn({ problem }, 'a part of the session did not stop'));
  try {
    const connecting = NativeConnection.connect(connectionOptions(temporal));
    // Closing fails while an abandoned worker uses it.
    const connection = await parts.starting(connecting, (it) => it.close().catch(() => {}));
    const client = new Client({ connection, namespace });
    await parts.add(async () => relay?.ended());
    const attributes = keepSearchAttributes(connection, namespace, log, timings.lookMs);
    await parts.starting(attributes, (it) => it.stop());
    if (retention.scheduled) {
      const schedule = scheduleRetention(client, taskQueue, log, timings.lookMs);
      await parts.starting(schedule, (it) => it.stop());
    }
    const { temporalCalls, activities, startQueue } = sharedParts(deps, client);
    const create = sdkWorkers(deps, connection, activities);
    // Workers that never ran would keep the connection open.
    await parts.add(() => runTogether(workers.splice(0), async () => {}));
    workers.push(await create.steps());
    const deliveries = await create.deliveries();
    workers.push(deliveries);
    const polled = ownPolls(client, taskQueue, processIdentity);
    const reconciler = startReconciler({
      ...deps,
      intervalMs: timings.reconcileIntervalMs ?? RECONCILE_INTERVAL_MS,
      graceMs: timings.reconcileGraceMs ?? deps.policy.attemptTimeoutMs + RECONCILE_SLACK_MS,
      executions: createExecutions(client, taskQueue),
      memory: deps.reconcilerMemory,
      restarter: { ...temporalCalls.dispatcher, ...temporalCalls.recoveries },
      onSetBack: terms.onSetBack,
      async onAnswered() {
        deps.onQuestionAnswered();
        deps.onPolled(await polled());
        // A worker whose places are all taken does not poll.
        if (deliveries.getStatus().numInFlightActivities >= deps.scheduler.attempts)
          deps.onPolled(['attempts']);
      },
    });
    await parts.add(reconciler.stop);
    relay = startQueue();
    const { stop: stopRelay } = relay;
    await parts.add(stopRelay);

    const where = { namespace, taskQueue, identity: processIdentity };
    for (const part of ['worker', 'reconciler', 'relay']) stopped.push(logStarted(log, part, where));
    deps.onTemporal('up');
    terms.onReady();
    const stopClaiming = () => Promise.all([reconciler.stop(), stopRelay()]);
    await untilOver(workers.splice(0), stopClaiming, terms);
  } finally {
    await parts.stop();
    for (const say of stopped.reverse()) say();
  }
}

/** The queue alone, before Temporal was ever reached: attempts do not need Temporal; work that does need it waits. */
export async function runQueueAlone(deps: SessionDeps, until: AbortSignal): Promise<void> {
  const { namespace, taskQueue } = deps.temporal;
  const connection = Connection.lazy(connectionOptions(deps.temporal));
  const relay = sharedParts(deps, new Client({ connection, namespace })).startQueue();
  const stopped = logStarted(deps.log, 'relay', { namespace, taskQueue });
  await aborted(until);
  await relay.stop();
  await relay.ended();
  await connection.close().catch(() => {});
  stopped();
}

/** Runs the workers until another session has to take over, and claims from the queue until this one is ended. */
async function untilOver(
  workers: readonly Worker[],
  stopClaiming: () => Promise<unknown>,
  { renewal, until, onWorkerFailure }: SessionTerms,
): Promise<void> {
  const claiming = aborted(until).then(stopClaiming);
  const ended = await Promise.allSettled([
    runTogether(
      workers,
      async () => {
        await Promise.race([aborted(renewal), aborted(until)]);
        if (until.aborted) await claiming;
      },
      onWorkerFailure,
    ),
    claiming,
  ]);
  for (const part of ended) if (part.status === 'rejected') throw part.reason;
}

/** The parts of a session: calls to Temporal, the activities, and the relay, which attempts waiting deliveries. */
function sharedParts(deps: SessionDeps, client: Client) {
  const { sql, sessionSql, sender, keys, policy, retention, traces } = deps;
  const { taskQueue } = deps.temporal;
  const noticeWaitsMs = deps.timings?.noticeWaitsMs;
  const temporalCalls = {
    dispatcher: createDispatcher(client, taskQueue, policy, traces),
    recoveries: createRecoveryStarter(client, taskQueue),
    startNotice: startOrReplace(
      createStartNotice(client, taskQueue),
      createExecutions(client, taskQueue),
      deps.log,
    ),
  };
  const execute = throughSessions(sql, sessionSql);
  const attemptDeps = { ...deps, statements: createStatements(sql, execute), prepare: createPrepare(keys) };
  const activities = createActivities({
    ...attemptDeps,
    sendNotice: sender.sendNotice,
    ...(noticeWaitsMs === undefined ? {} : { noticeWaitsMs }),
    retentionMs: retention.periodMs,
    signalAttemptFailed: temporalCalls.dispatcher.signalAttemptFailed,
  });
  const makeQueueAttempt: MakeQueueAttempt = ({ id: deliveryId, attemptsMade }, queue, signals) => {
    const command = { deliveryId, policy, lastChance: false, expectedNumber: attemptsMade + 1, queue };
    return makeAttempt(attemptDeps, command, signals);
  };
  const startQueue = () =>
    startRelay({
      ...deps,
      ...temporalCalls,
      execute,
      makeAttempt: makeQueueAttempt,
      options: deps.scheduler,
    });
  return { temporalCalls, activities, startQueue };
}
