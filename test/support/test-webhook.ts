/** A webhook as the API would store it, with the schema's defaults except for static headers. */
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

/** Its sealed columns, for tests that send nothing to it. */
export const unreadable = () => ({ secret: Buffer.from('sealed'), headers: null, headerNames: null });
