/** Deliveries of which an attempt has failed. */
import type { Receiver } from '../servers/receiver.ts';
import type { DeliveryStack } from './delivery-stack.ts';

/** A delivery whose first attempt failed, and whose next one is due in ten minutes. @param path of its webhook */
export async function deliverInTenMinutes(stack: DeliveryStack, receiver: Receiver, path: string) {
  receiver.respond({ status: 503, headers: { 'retry-after': '600' } });
  const webhook = await stack.createWebhook(`${receiver.url}${path}`);
  const id = await stack.fireOne(`order for ${path}`);
  await stack.untilWaiting(id);
  return { id, webhook };
}
