/** A webhook as the API would store it: what a test does not name has the default of the schema. */
import * as v from 'valibot';
import { type WebhookInput, webhookInputSchema } from '../../src/domain/webhook.ts';

export function testWebhook(named: Partial<v.InferInput<typeof webhookInputSchema>> = {}): WebhookInput {
  return v.parse(webhookInputSchema, {
    url: 'https://shop.example/hook',
    webhookType: 'CREATE_ORDER',
    active: true,
    method: 'POST',
    ...named,
  });
}
