/**
 * Starts and signals the workflows of deliveries and pre-orders, for relay, reconciler and the attempts' activity.
 *
 * Module temporal, which imports attempt, config, db, domain, lib, log, traces, workflows. Begin: `target.ts` has the
 * connection to Temporal.
 */
import type { Client, WorkflowOptions } from '@temporalio/client';
import { TypedSearchAttributes, WorkflowIdReusePolicy } from '@temporalio/common';
import type { deliverEvent } from '../../workflows/deliver-event.ts';
import { deliveryWorkflowId, type NamedDelivery } from '../../workflows/delivery-id.ts';
import {
  attemptFailedSignal,
  type DeliverEventInput,
  type Delivered,
  type FailedAttempt,
  webhookChangedSignal,
} from '../../workflows/delivery-types.ts';
import { literal } from '../../workflows/markdown.ts';
import { deliveryTitle, searchableHost } from '../../workflows/operator-view.ts';
import { priorityOf } from '../../workflows/priorities.ts';
import type { releasePreOrder } from '../../workflows/release-pre-order.ts';
import {
  type ReleasePreOrderInput,
  releaseChangedSignal,
  releaseWorkflowId,
} from '../../workflows/release-types.ts';
import {
  deliveryStateKey,
  entityIdKey,
  eshopIdKey,
  receiverHostKey,
  webhookIdKey,
  webhookTypeKey,
} from '../../workflows/search-attributes.ts';
import type { AttemptFailure } from '../attempt/outcome.ts';
import type { QueuedDelivery } from '../db/outbox/outbox.ts';
import type { AttemptedDelivery } from '../db/reconciliation.ts';
import { maxAttempts, type RetryPolicy } from '../domain/retry-policy.ts';
import { type NewSpan, type Traces, traced, untraced } from '../traces/traces.ts';
import type { RecoveryStarter } from './start-recovery.ts';
import {
  type Former,
  signalWorkflow,
  startAfterActions,
  startOrSignalWorkflow,
  startWorkflow,
} from './workflow-calls.ts';

/** Deadline of a call made only for the operator's view, in milliseconds. */
const BEST_EFFORT_DEADLINE_MS = 2_000;

/** The result of an attempt made from the queue. */
export type QueueAttempt = Delivered | AttemptFailure;

/** Temporal as the relay uses it. */
export type Dispatcher = Pick<
  ReturnType<typeof createDispatcher>,
  'startDelivery' | 'signalWebhookChanged' | 'signalAttemptFailed' | 'signalReleaseChanged'
>;

/** Temporal as the reconciler uses it. */
export type Restarter = RecoveryStarter &
  Pick<
    ReturnType<typeof createDispatcher>,
    'restart' | 'restartRelease' | 'signalReleaseChanged' | 'signalWebhookChanged'
  >;

/** @param client on the worker's own connection, so that a workflow's first task runs here directly */
export function createDispatcher(
  client: Client,
  taskQueue: string,
  policy: RetryPolicy,
  traces: Traces = untraced,
) {
  /** @returns false if this delivery already has a workflow that prevents the start */
  async function start(
    delivery: AttemptedDelivery,
    previous: Pick<DeliverEventInput, 'delivered' | 'failures'>,
    how: Pick<WorkflowOptions, 'workflowIdReusePolicy' | 'workflowIdConflictPolicy' | 'requestEagerStart'>,
  ): Promise<boolean> {
    const { id: deliveryId, eshopId, webhookId, eventType, entityId, receiverHost, attemptsMade } = delivery;
    const input: DeliverEventInput = {
      deliveryId,
      eshopId,
      webhookId,
      eventType,
      entityId,
      attemptsMade,
      // If today's policy allows no further attempt, one is added: Temporal's client refuses a policy without any.
      // The workflow makes it only if the row has a time for it.
      policy: attemptsMade < maxAttempts(policy) ? policy : { ...policy, maxRetries: attemptsMade },
      ...previous,
    };
    return await startWorkflow<typeof deliverEvent>(client, 'deliverEvent', {
      ...how,
      workflowId: deliveryWorkflowId(delivery),
      taskQueue,
      args: [input],
      priority: priorityOf('delivery', eshopId),
      staticSummary: deliveryTitle(delivery),
      typedSearchAttributes: new TypedSearchAttributes([
        { key: eshopIdKey, value: eshopId },
        { key: webhookIdKey, value: webhookId },
        { key: webhookTypeKey, value: eventType },
        { key: entityIdKey, value: entityId },
        ...(receiverHost === null ? [] : [{ key: receiverHostKey, value: searchableHost(receiverHost) }]),
        ...(previous.delivered !== undefined ? [{ key: deliveryStateKey, value: 'delivered' }] : []),
      ]),
    });
  }

  function releaseOptions(eshopId: number, eshopOrderId: string) {
    return {
      workflowId: releaseWorkflowId(eshopId, eshopOrderId),
      taskQueue,
      args: [{ eshopId, eshopOrderId }] as [ReleasePreOrderInput],
      priority: priorityOf('release', eshopId),
      staticSummary: `release of pre-order ${literal(eshopOrderId)}`,
      typedSearchAttributes: new TypedSearchAttributes([
        { key: eshopIdKey, value: eshopId },
        { key: entityIdKey, value: eshopOrderId },
      ]),
    };
  }

  return {
    /**
     * Starts the delivery's workflow after the attempts already made; if it was started before, that start stands.
     * @param last the attempt just made: the first task runs in this process. Left out: the row has everything, and
     * any worker may take the task, in Temporal's order
     */
    async startDelivery(delivery: QueuedDelivery, last?: QueueAttempt): Promise<void> {
      const attemptsMade = last?.number ?? delivery.attemptsMade;
      const previous = madeBefore(delivery, last);
      const startOnce = () =>
        start({ ...delivery, attemptsMade }, previous, {
          workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
          // An eager start overtakes waiting tasks. The workflow of a delivered event has only this task.
          requestEagerStart: last !== undefined || previous.delivered !== undefined,
        });
      // A delivery without a trace gets no span.
      await (delivery.traceparent === null ? startOnce() : traced(traces, spanOfStart(delivery), startOnce));
    },
    /** Starts a delivery's workflow again, by the present retry policy. @returns false if another worker was first */
    async restart(delivery: AttemptedDelivery, former: Former): Promise<boolean> {
      // Any worker may take it: after a restart of the whole system, one worker could not take all of them.
      return await start(delivery, {}, { ...startAfterActions[former], requestEagerStart: false });
    },
    /** Signals an open delivery that its webhook changed; does nothing for one that has ended. */
    signalWebhookChanged: (delivery: NamedDelivery): Promise<void> =>
      signalWorkflow(client, deliveryWorkflowId(delivery), { name: webhookChangedSignal }),
    /** Reports a failed attempt. @param workflowId of the delivery's workflow */
    signalAttemptFailed: (workflowId: string, attempt: AttemptFailure): Promise<void> =>
      signalWorkflow(client, workflowId, {
        name: attemptFailedSignal,
        args: [failedAttempt(attempt)],
        deadlineMs: BEST_EFFORT_DEADLINE_MS,
      }),
    /** Starts the release timer of a pre-order, or signals a change to a running one. */
    async signalReleaseChanged(eshopId: number, eshopOrderId: string): Promise<void> {
      await startOrSignalWorkflow<typeof releasePreOrder>(client, 'releasePreOrder', {
        ...releaseOptions(eshopId, eshopOrderId),
        signal: releaseChangedSignal,
      });
    },
    /** Starts the release timer of a pre-order again. @returns false if another worker was first */
    async restartRelease(eshopId: number, eshopOrderId: string, former: Former): Promise<boolean> {
      return await startWorkflow<typeof releasePreOrder>(client, 'releasePreOrder', {
        ...releaseOptions(eshopId, eshopOrderId),
        ...startAfterActions[former],
      });
    },
  };
}

/** The span of a start, in the trace that its delivery comes from. */
function spanOfStart({ id, traceparent }: QueuedDelivery): NewSpan {
  return {
    name: 'start deliverEvent',
    kind: 'PRODUCER',
    attributes: {
      'messaging.system': 'temporal',
      'messaging.operation.name': 'start',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'deliverEvent',
      'messaging.message.id': id,
    },
    parent: traceparent,
  };
}

/** The attempts made from the queue: those in the delivery's row, and the one just made. */
function madeBefore(
  { state, attemptsMade, lastStatus, failures }: QueuedDelivery,
  last: QueueAttempt | undefined,
): Pick<DeliverEventInput, 'delivered' | 'failures'> {
  const failed: FailedAttempt[] = [...(failures ?? [])];
  if (last?.kind === 'failed') failed.push(failedAttempt(last));
  const fromRow: Delivered = { kind: 'delivered', number: attemptsMade, status: lastStatus ?? 200 };
  const delivered = last?.kind === 'delivered' ? last : state === 'delivered' ? fromRow : undefined;
  return {
    ...(delivered === undefined ? {} : { delivered }),
    ...(failed.length === 0 ? {} : { failures: failed }),
  };
}

function failedAttempt(failure: Omit<AttemptFailure, 'kind'>): FailedAttempt {
  const { number, status, message, at, nextAttemptAt } = failure;
  const next = nextAttemptAt?.toISOString() ?? null;
  return { number, status, message, at: at.toISOString(), nextAttemptAt: next };
}
