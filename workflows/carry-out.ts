/**
 * An operator's order that is one step: its result is shown, and a refusal ends the workflow as failed.
 */
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { literal } from './markdown.ts';
import { refuse } from './refusal.ts';
import { webhookIdKey } from './search-attributes.ts';
import type { WebhookOrderAnswer, WebhookOrderResult } from './webhook-order-types.ts';

/**
 * Carries it out.
 * @throws ApplicationFailure `Refused`, with a sentence that says why
 */
export async function carryOut(order: Promise<WebhookOrderAnswer>): Promise<WebhookOrderResult> {
  const { accepted, ...result } = await order;
  setCurrentDetails(literal(result.sentence));
  if ('webhookId' in result) {
    // So a list of all workflows of a webhook shows this one too.
    upsertSearchAttributes([{ key: webhookIdKey, value: result.webhookId }]);
    return result;
  }
  return refuse(result.sentence);
}
