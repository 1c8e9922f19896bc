/** `deliverEvent` with an activity too many: what the replay test must find. */
import { proxyActivities } from '@temporalio/workflow';
import { deliverEvent as unchanged } from '../../workflows/deliver-event.ts';
import type { DeliverEventInput, DeliveryActivities } from '../../workflows/delivery-types.ts';

const { readDelivery } = proxyActivities<DeliveryActivities>({ startToCloseTimeout: 1_000 });

export async function deliverEvent(input: DeliverEventInput) {
  await readDelivery({ deliveryId: input.deliveryId, windowMs: input.policy.windowMs });
  return await unchanged(input);
}
