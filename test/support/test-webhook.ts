/** A webhook as the API would store it: what a test does not name has the default of the schema, static headers aside. */
import * as v from 'valibot';
import { type GivenSettings, webhookInputSchema } from '../../src/domain/webhook.ts';

export function testWebhook(named: Partial<v.InferInput<typeof webhookInputSchema>> = {}): GivenSettings {
  return v.parse(webhookInputSchema, {
    url: 'https://shop.example/hook',
    webhookType: 'CREATE_ORDER',
    active: true,
    method: 'POST',
    ...named,
  });
}

/** What of one is stored sealed, where nothing is to be sent to it. */
export const unreadable = () => ({ secret: Buffer.from('sealed'), headers: null, headerNames: null });
