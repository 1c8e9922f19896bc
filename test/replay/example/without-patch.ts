/** The example of docs/changing-workflows.md, step 2: `deliverEvent` reads its delivery first, unpatched. */
import { deliverEvent as before } from '../../../workflows/deliver-event.ts';
import type { DeliverEventInput, DeliveryActivities } from '../../../workflows/delivery-types.ts';
import { ownSteps } from '../../../workflows/own-steps.ts';

export async function deliverEvent(input: DeliverEventInput) {
  const { deliveryId, policy } = input;
  await ownSteps<DeliveryActivities>().readDelivery({ deliveryId, policy });
  return await before(input);
}
