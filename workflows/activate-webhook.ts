/**
 * An operator activates a webhook (docs/handbook/temporal-ui.md). Started by hand, with `{"webhookId": 7}`.
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import { carryOut } from './carry-out.ts';
import { ownSteps } from './own-steps.ts';
import type { WebhookOrder, WebhookOrderActivities, WebhookOrderResult } from './webhook-order-types.ts';

/** Activates it; an active one stays as it is. @throws ApplicationFailure `Refused` */
export async function activateWebhook(order: WebhookOrder): Promise<WebhookOrderResult> {
  const steps = ownSteps<WebhookOrderActivities>();
  return await carryOut(steps.activateWebhook(order));
}
