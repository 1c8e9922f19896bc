/**
 * An operator begins a recovery (docs/handbook/temporal-ui.md). Started by hand, with `{"webhookId": 7, "since": "2026-11-22T10:00Z"}`.
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import { carryOut } from './carry-out.ts';
import { ownSteps } from './own-steps.ts';
import type { RecoverOrder, WebhookOrderActivities, WebhookOrderResult } from './webhook-order-types.ts';

/** Begins it; `recoverWebhook` does the work. A repeated request leads to the same recovery. @throws ApplicationFailure `Refused` */
export async function recoverMissed(order: RecoverOrder): Promise<WebhookOrderResult> {
  const steps = ownSteps<WebhookOrderActivities>();
  return await carryOut(steps.recoverMissed(order));
}
