/** `deliverEvent`, changed without `patched()` in each way that a replay must report. */
import { proxyActivities, sleep } from '@temporalio/workflow';
import { deliverEvent } from '../../workflows/deliver-event.ts';
import type { DeliverEventInput, DeliveryActivities } from '../../workflows/delivery-types.ts';

const { readDelivery } = proxyActivities<DeliveryActivities>({ startToCloseTimeout: 1_000 });
const read = ({ deliveryId, policy }: DeliverEventInput) => readDelivery({ deliveryId, policy });

export async function timerFirst(input: DeliverEventInput) {
  await sleep(1_000);
  return await deliverEvent(input);
}

export async function activityFirst(input: DeliverEventInput) {
  await read(input);
  return await deliverEvent(input);
}

export async function activityLast(input: DeliverEventInput) {
  const result = await deliverEvent(input);
  await read(input);
  return result;
}

export async function activityBeside(input: DeliverEventInput) {
  const delivered = deliverEvent(input);
  void read(input);
  return await delivered;
}

export async function endsAtOnce() {
  return { state: 'delivered' };
}

export async function doesNothing() {
  await new Promise(() => {});
}

export async function throwsAnError() {
  throw new TypeError('there is no "policy" here');
}

export { deliverEvent };
