/**
 * The smallest durable workflow, one activity, with the name, the input and the options of a delivery's.
 */
import { proxyActivities } from '@temporalio/workflow';
import { attemptOptions } from '../../workflows/delivery-options.ts';
import type { DeliverEventInput } from '../../workflows/delivery-types.ts';

/** The activity that does nothing. */
export interface FloorActivities {
  attemptDelivery(input: object): Promise<string>;
}

export async function deliverEvent(input: DeliverEventInput): Promise<void> {
  const { deliveryId, policy } = input;
  const options = attemptOptions(input, 0, policy.windowMs);
  await proxyActivities<FloorActivities>(options).attemptDelivery({
    deliveryId,
    policy,
    attemptsBefore: 0,
    lastChance: false,
  });
}
