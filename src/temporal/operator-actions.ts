/**
 * Operator actions from outside Temporal: through the update of the delivery's workflow or, if it has none yet,
 * through the database.
 */
import { randomUUID } from 'node:crypto';
import {
  type Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { deliveryWorkflowId } from '../../workflows/delivery-id.ts';
import { type ActionRequest, webhookChangedSignal } from '../../workflows/delivery-types.ts';
import type { Pool } from '../db/pool.ts';
import { deliveryTarget } from '../db/webhooks/delivery-log.ts';
import { recordOperatorAction } from '../db/webhooks/operator-actions.ts';
import { type ActionName, UNNAMED_OPERATOR } from '../domain/operator-action.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import { UserError } from '../lib/user-error.ts';
import { Unanswered } from './unanswered.ts';
import { signalWorkflow } from './workflow-calls.ts';

interface OperatorActionsDeps {
  readonly client: Client;
  readonly sql: Pool;
  /** The configured one; a delivery with a workflow has its own. */
  readonly policy: RetryPolicy;
  /** How long a worker may take to answer, in milliseconds; default 10 s. */
  readonly answerMs?: number;
}

export interface OperatorActions
  extends Readonly<Record<ActionName, (deliveryId: string, order: ActionRequest) => Promise<string>>> {}

const ANSWER_MS = 10_000;

/**
 * Each action resolves to a sentence that says what follows.
 * @returns actions that throw a UserError with a sentence if refused, if there is no such delivery, or without an answer
 */
export function createOperatorActions({
  client,
  sql,
  policy,
  answerMs = ANSWER_MS,
}: OperatorActionsDeps): OperatorActions {
  async function request(action: ActionName, deliveryId: string, order: ActionRequest): Promise<string> {
    const before = await workflowOf(deliveryId);
    const answered = await throughWorkflow(action, before, order);
    if (answered !== null) return answered;
    const { reason = '', by = '', user } = order;
    const name = by.trim() || UNNAMED_OPERATOR;
    const asked = { id: randomUUID(), action, by: name, reason, ...(user === undefined ? {} : { user }) };
    const result = await recordOperatorAction(sql, deliveryId, asked, policy);
    if (result === null) throw new UserError(`There is no delivery ${deliveryId}.`);
    if (!result.accepted) throw new UserError(result.sentence);
    // Its workflow may have begun meanwhile.
    await signalWorkflow(client, await workflowOf(deliveryId), { name: webhookChangedSignal });
    return result.sentence;
  }

  /** The id of its workflow, which may not exist. */
  async function workflowOf(deliveryId: string): Promise<string> {
    const target = await deliveryTarget(sql, deliveryId);
    if (target === null) throw new UserError(`There is no delivery ${deliveryId}.`);
    return deliveryWorkflowId(target);
  }

  /** @returns null if the delivery has no running workflow */
  async function throughWorkflow(
    action: ActionName,
    workflowId: string,
    order: ActionRequest,
  ): Promise<string | null> {
    try {
      return await client.withDeadline(Date.now() + answerMs, () =>
        client.workflow
          .getHandle(workflowId)
          .executeUpdate<string, [ActionRequest]>(action, { args: [order] }),
      );
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      if (error instanceof WorkflowUpdateFailedError) {
        const { cause } = error;
        // The workflow ended meanwhile: the database knows its result.
        if (!(cause instanceof ApplicationFailure) || cause.type !== 'Refused') return null;
        throw new UserError(cause.message);
      }
      if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcServiceError(error)) {
        throw new Unanswered(
          `No worker answered within ${answerMs / 1_000} seconds. Is one running? What was asked may still be done.`,
        );
      }
      throw error;
    }
  }

  return {
    tryNow: (deliveryId, order) => request('tryNow', deliveryId, order),
    hold: (deliveryId, order) => request('hold', deliveryId, order),
    resume: (deliveryId, order) => request('resume', deliveryId, order),
    giveUp: (deliveryId, order) => request('giveUp', deliveryId, order),
  };
}
