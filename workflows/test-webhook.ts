/**
 * An operator tests a webhook (docs/handbook/temporal-ui.md). Started by hand, with `{"webhookId": 7}`.
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import { carryOut } from './carry-out.ts';
import { ownSteps } from './own-steps.ts';
import {
  type WebhookOrder,
  type WebhookOrderActivities,
  type WebhookOrderResult,
  webhookTestOptions,
} from './webhook-order-types.ts';

/** Makes one request with a sample, whether the webhook is active or not; it has no consequences. @throws ApplicationFailure `Refused` */
export async function testWebhook(order: WebhookOrder): Promise<WebhookOrderResult> {
  const steps = ownSteps<WebhookOrderActivities>(webhookTestOptions);
  return await carryOut(steps.testWebhook(order));
}
