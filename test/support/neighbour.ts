/** Another e-shop, which must not be affected by the first. */
import { createEshop } from '../../src/db/eshops.ts';
import { createWebhook } from '../../src/db/webhooks/create.ts';
import { newWebhookSecret } from '../../src/secrets/keys.ts';
import { sealing } from '../../src/secrets/static-headers.ts';
import type { DeliveryStack } from './delivery-stack.ts';
import { testWebhook } from './test-webhook.ts';

/** Another e-shop with one webhook. */
export async function neighbourOf({ sql, keys }: Pick<DeliveryStack, 'sql' | 'keys'>, url: string) {
  const { eshopId } = await createEshop(sql, { name: 'Neighbour', email: 'neighbour@example.test' });
  const seal = sealing(keys, eshopId, { secret: newWebhookSecret() });
  const webhook = await createWebhook(sql, eshopId, testWebhook({ url }), seal, 10);
  if (webhook === null) throw new Error('too many webhooks');
  return { eshopId, webhookId: webhook.id };
}
