/** Another e-shop, which must not be affected by the first. */
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import type { DeliveryStack } from '../temporal/delivery-stack.ts';

/** Another e-shop with one webhook. */
export async function neighborOf({ sql, createWebhook }: DeliveryStack, url: string) {
  const { eshopId } = await createEshop(sql, { name: 'Neighbor', email: 'neighbor@example.test' });
  const { id: webhookId } = await createWebhook(url, { of: eshopId });
  return { eshopId, webhookId };
}
