/**
 * Operators' orders for webhooks (docs/handbook/temporal-ui.md), each one step. Started by hand, with `{"webhookId": 7}`; `recoverMissed`
 * needs `"since": "2026-11-22T10:00Z"` too.
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { literal } from './markdown.ts';
import { ownSteps } from './own-steps.ts';
import { refuse } from './refusal.ts';
import { webhookIdKey } from './search-attributes.ts';
import {
  type RecoverOrder,
  type WebhookOrder,
  type WebhookOrderActivities,
  type WebhookOrderAnswer,
  type WebhookOrderResult,
  webhookTestOptions,
} from './webhook-order-types.ts';

/** Activates it; an active one stays as it is. @throws ApplicationFailure `Refused` */
export async function activateWebhook(order: WebhookOrder): Promise<WebhookOrderResult> {
  return await carryOut(ownSteps<WebhookOrderActivities>().activateWebhook(order));
}

/** Makes one request with a sample, whether the webhook is active or not; it has no consequences. @throws ApplicationFailure `Refused` */
export async function testWebhook(order: WebhookOrder): Promise<WebhookOrderResult> {
  return await carryOut(ownSteps<WebhookOrderActivities>(webhookTestOptions).testWebhook(order));
}

/** Begins a recovery; `recoverWebhook` does the work. A repeated request leads to the same one. @throws ApplicationFailure `Refused` */
export async function recoverMissed(order: RecoverOrder): Promise<WebhookOrderResult> {
  return await carryOut(ownSteps<WebhookOrderActivities>().recoverMissed(order));
}

/** Shows the result of an order. @throws ApplicationFailure `Refused`, with a sentence that says why */
async function carryOut(order: Promise<WebhookOrderAnswer>): Promise<WebhookOrderResult> {
  const { accepted, ...result } = await order;
  setCurrentDetails(literal(result.sentence));
  if ('webhookId' in result) {
    // So a list of all workflows of a webhook shows this one too.
    upsertSearchAttributes([{ key: webhookIdKey, value: result.webhookId }]);
    return result;
  }
  return refuse(result.sentence);
}
