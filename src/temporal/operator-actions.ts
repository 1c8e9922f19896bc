/**
 * Operator actions from outside Temporal: through the update of the delivery's workflow or, where it has none yet,
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
import { type SteeringOrder, webhookChangedSignal } from '../../workflows/delivery-types.ts';
import type { Pool } from '../db/pool.ts';
import { placeOfDelivery } from '../db/webhooks/delivery-log.ts';
import { steerDelivery } from '../db/webhooks/operator-actions.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import { SOMEBODY, type SteeringAction } from '../domain/steering.ts';
import { UserError } from '../lib/user-error.ts';
import { signalWorkflow } from './signal.ts';

export interface OperatorActionsDeps {
  readonly client: Client;
  readonly sql: Pool;
  /** As configured; a delivery with a workflow has its own. */
  readonly policy: RetryPolicy;
}

export interface OperatorActions
  extends Readonly<Record<SteeringAction, (deliveryId: string, order: SteeringOrder) => Promise<string>>> {}

/** How long a worker may take to answer, in milliseconds. */
const ANSWER_MS = 10_000;

/**
 * Each resolves to a sentence that says what follows.
 * @returns what throws a UserError with a sentence where it is refused, there is no such delivery, or nobody answers
 */
export function createOperatorActions({ client, sql, policy }: OperatorActionsDeps): OperatorActions {
  async function request(action: SteeringAction, deliveryId: string, order: SteeringOrder): Promise<string> {
    const before = await workflowOf(deliveryId);
    const answered = await throughWorkflow(action, before, order);
    if (answered !== null) return answered;
    const { reason = '', by = SOMEBODY } = order;
    const asked = { id: randomUUID(), action, by, reason };
    const steered = await steerDelivery(sql, deliveryId, asked, policy);
    if (steered === null) throw new UserError(`There is no delivery ${deliveryId}.`);
    if (!steered.accepted) throw new UserError(steered.sentence);
    // Its workflow may have begun meanwhile.
    await signalWorkflow(client, await workflowOf(deliveryId), { name: webhookChangedSignal });
    return steered.sentence;
  }

  /** The id that its workflow has, if it has one. */
  async function workflowOf(deliveryId: string): Promise<string> {
    const place = await placeOfDelivery(sql, deliveryId);
    if (place === null) throw new UserError(`There is no delivery ${deliveryId}.`);
    return deliveryWorkflowId(place);
  }

  /** @returns null where the delivery has no running workflow */
  async function throughWorkflow(
    action: SteeringAction,
    workflowId: string,
    order: SteeringOrder,
  ): Promise<string | null> {
    try {
      return await client.withDeadline(Date.now() + ANSWER_MS, () =>
        client.workflow
          .getHandle(workflowId)
          .executeUpdate<string, [SteeringOrder]>(action, { args: [order] }),
      );
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      if (error instanceof WorkflowUpdateFailedError) {
        const { cause } = error;
        // Ended while it was being asked: the database says how.
        if (!(cause instanceof ApplicationFailure) || cause.type !== 'Refused') return null;
        throw new UserError(cause.message);
      }
      if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcServiceError(error)) {
        throw new UserError(
          `No worker answered within ${ANSWER_MS / 1_000} seconds. Is one running? What was asked may still be done.`,
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
