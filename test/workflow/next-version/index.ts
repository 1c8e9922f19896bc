/** The workflows as a later release might have them: a delivery does one thing more, behind `patched()`. */
import { patched, proxyActivities } from '@temporalio/workflow';
import { deliverEvent as present } from '../../../workflows/deliver-event.ts';
import type { DeliverEventInput, DeliveryActivities } from '../../../workflows/delivery-types.ts';

export { releasePreOrder } from '../../../workflows/release-pre-order.ts';

const { readDelivery } = proxyActivities<DeliveryActivities>({ startToCloseTimeout: 10_000 });

export async function deliverEvent(input: DeliverEventInput) {
  if (patched('next-version')) {
    await readDelivery({ deliveryId: input.deliveryId, windowMs: input.policy.windowMs });
  }
  return await present(input);
}
