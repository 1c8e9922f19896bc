/** A webhook as the API would store it, with the schema's defaults except for static headers. */
import * as v from 'valibot';
import { type GivenSettings, webhookInputSchema } from '../../src/domain/webhook.ts';

type Body = v.InferInput<typeof webhookInputSchema>;

export function testWebhook(named: Partial<Body> = {}): GivenSettings {
  const body: Body = {
    url: 'https://shop.example/hook',
    webhookType: 'CREATE_ORDER',
    active: true,
    method: 'POST',
    ...named,
  };
  return v.parse(webhookInputSchema, body);
}

/** Its sealed columns, for tests that send nothing to it. */
export const unreadable = () => ({ secret: Buffer.from('sealed'), headers: null, headerNames: null });
