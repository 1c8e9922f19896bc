/**
 * Operator actions from outside Temporal: through an update of the delivery's workflow or, while the delivery is in
 * the queue, in the database, without Temporal.
 */
import { randomUUID } from 'node:crypto';
import {
  type Client,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { deliveryWorkflowId } from '../../workflows/delivery-id.ts';
import { webhookChangedSignal } from '../../workflows/delivery-types.ts';
import type { Pool } from '../db/connection/pool.ts';
import { deliveryTarget } from '../db/deliveries/delivery-log.ts';
import { recordOperatorAction } from '../db/deliveries/operator-actions.ts';
import {
  type ActionInput,
  type ActionName,
  notPassedOn,
  type RequestAction,
  type RequestedResult,
  UNNAMED_OPERATOR,
} from '../domain/operator-action.ts';
import { pauseAttribution } from '../domain/operator-pause.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import { pauseOf } from './paused.ts';
import { causeOf, isOfTemporal } from './rejection.ts';
import { signalWorkflow } from './workflow-calls.ts';

interface OperatorActionsDeps {
  readonly client: Client;
  readonly sql: Pool;
  /** The configured policy; a delivery with a workflow has its own. */
  readonly policy: RetryPolicy;
  /** How long a worker may take to answer, in milliseconds; default 10 s. */
  readonly answerMs?: number;
}

const ANSWER_MS = 10_000;

export function createOperatorActions(deps: OperatorActionsDeps): RequestAction {
  const { client, sql, policy, answerMs = ANSWER_MS } = deps;
  /** @returns null if the delivery has no running workflow */
  async function throughWorkflow(
    action: ActionName,
    workflowId: string,
    input: ActionInput,
  ): Promise<RequestedResult | null> {
    try {
      const message = await client.withDeadline(Date.now() + answerMs, () =>
        client.workflow.getHandle(workflowId).executeUpdate<string, [ActionInput]>(action, { args: [input] }),
      );
      return { accepted: true, message };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      if (error instanceof WorkflowUpdateFailedError) {
        const { cause } = error;
        // The workflow has ended in the meantime: the database knows its result.
        if (!(cause instanceof ApplicationFailure) || cause.type !== 'Rejected') return null;
        return { accepted: false, message: cause.message };
      }
      if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
        const message = `No worker answered within ${answerMs / 1_000} seconds. Is one running? What was asked may still be done.`;
        return { accepted: false, message, unanswered: true };
      }
      if (isOfTemporal(error)) return await refusedByTemporal(error, workflowId);
      throw error;
    }
  }

  async function refusedByTemporal(error: unknown, workflowId: string): Promise<RequestedResult> {
    const pause = await pauseOf(client, workflowId).catch(() => null);
    if (pause !== null) {
      return {
        accepted: false,
        paused: true,
        message: `An operator has paused this delivery in Temporal, since ${pause.since.toISOString()}.`,
        forOperators: `It is paused in Temporal, ${pauseAttribution(pause)}. Unpause it there first: temporal workflow unpause --workflow-id '${workflowId}'`,
      };
    }
    return notPassedOn(`Temporal rejected the request: ${causeOf(error)}`);
  }

  return async (action, deliveryId, input) => {
    const notFound = { accepted: false, message: `There is no delivery ${deliveryId}.` };
    const target = await deliveryTarget(sql, deliveryId);
    if (target === null) return notFound;
    if (!target.queued) {
      const answered = await throughWorkflow(action, deliveryWorkflowId(target), input);
      if (answered !== null) return answered;
    }
    const by = input.by.trim() || UNNAMED_OPERATOR;
    const request = { ...input, id: randomUUID(), action, by };
    const result = await recordOperatorAction(sql, deliveryId, request, policy);
    // Its workflow may have begun in the meantime.
    if (result?.accepted === true && (await deliveryTarget(sql, deliveryId))?.queued === false)
      await signalWorkflow(client, deliveryWorkflowId(target), { name: webhookChangedSignal });
    return result ?? notFound;
  };
}
