/** The sender alone: signs and sends requests, without a database or Temporal. */
import pLimit from 'p-limit';
import { v7 as uuidv7 } from 'uuid';
import { createSender } from '../../src/delivery/sender.ts';
import { newWebhookSecret } from '../../src/secrets/keys.ts';
import { benchRecord } from '../backlog.ts';
import { serve } from './serve.ts';

/** As many requests as a worker has under way at most. */
const AT_ONCE = 200;

const sender = createSender({ timeoutMs: 15_000, allowCidrs: ['127.0.0.0/8'], version: 'bench' });
const secrets = [newWebhookSecret()];
const body = JSON.stringify(benchRecord('bench-10001'));

async function run(times: number): Promise<readonly number[]> {
  await pLimit(AT_ONCE).map(Array.from({ length: times }), () =>
    sender.send({
      eshopId: 1,
      url: process.env.RECEIVER_URL ?? '',
      method: 'POST',
      secrets,
      staticHeaders: {},
      deliveryId: uuidv7(),
      webhookId: 1,
      eventId: uuidv7(),
      sequence: 1,
      happenedAt: new Date(),
      origin: 'shop',
      changed: null,
      eventType: 'CREATE_ORDER',
      entityId: 'bench-10001',
      number: 1,
      body,
      at: new Date(),
    }),
  );
  return [];
}

serve(run, () => sender.close());
