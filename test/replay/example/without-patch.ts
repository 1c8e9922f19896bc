/** The example of docs/changing-workflows.md, step 2: `deliverEvent` reads its delivery first, unpatched. */
import { deliverEvent as before } from '../../../workflows/deliver-event.ts';
import type { DeliverEventInput, DeliveryActivities } from '../../../workflows/delivery-types.ts';
import { ownSteps } from '../../../workflows/own-steps.ts';

export async function deliverEvent(input: DeliverEventInput) {
  const { deliveryId, policy } = input;
  const query = { deliveryId, windowMs: policy.windowMs, firstWaitMs: 0, maxAttempts: 1 };
  await ownSteps<DeliveryActivities>().readDelivery(query);
  return await before(input);
}
