/** A test delivery: one request with a sample, answered with the receiver's response (docs/interface.md, W13). */
import { Hono } from 'hono';
import type { Turns } from '../../concurrency/turns.ts';
import { findWebhookWithSecrets } from '../../db/webhooks/with-secrets.ts';
import { existing } from '../../domain/problem.ts';
import { asOfType, testedType, testResultSchema } from '../../domain/test-delivery.ts';
import { createPlaces } from '../budget/places.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { describeOperation } from '../describe.ts';
import { ok } from '../envelope.ts';
import { params, query } from '../validate.ts';
import { noSuchWebhook, tag, webhookId } from './record.ts';

/** The path of test deliveries: such a request waits for a receiver, and takes no turn meanwhile. */
export const TEST_PATH = '/v21/webhooks/:id/test';

/** Tests under way at once: each may wait for its receiver for as long as an attempt may last. */
const TESTS_AT_ONCE = { total: 50, perKey: 8 };
const TEST_QUEUE_TIMEOUT_MS = 15_000;

/** @param turn of the budget: for database access */
export function webhookTestRoutes(
  { sql, sendTest }: Pick<ApiDeps, 'sql' | 'sendTest'>,
  turn: Turns['run'],
): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const places = createPlaces(
    TESTS_AT_ONCE,
    TEST_QUEUE_TIMEOUT_MS,
    `At most ${TESTS_AT_ONCE.perKey} tests of an e-shop run at the same time; wait for a response.`,
  );

  app.post(
    '/webhooks/:id/test',
    describeOperation({
      id: 'testWebhook',
      summary: 'Test a webhook',
      description:
        'Makes one request to the URL of the webhook, with a sample of its `webhookType`, or of the `type` in the query, and returns what was sent and what came back. Start here: it works on an inactive ' +
        'webhook too, so that a receiver can be tried before it is activated.\n\n' +
        'The request is made and evaluated like an attempt of a delivery (method, payload version, packing lists, signature, time limits, refused destinations), with an additional header, `X-Service-Test: true`, so that a receiver ' +
        'can tell it from a delivery. There is no delivery with its `X-Service-Delivery`. A test has no consequences: it is not retried, is not in the delivery log, and never deactivates the webhook.\n\n' +
        `The response takes as long as the receiver does, up to the 15 s of an attempt. At most ${TESTS_AT_ONCE.perKey} tests of an e-shop run at the same time; further ones wait, and get a 429 if no slot becomes free within ${TEST_QUEUE_TIMEOUT_MS / 1000} s. No body.`,
      tag,
      data: testResultSchema,
      message: 'Webhook tested.',
      errors: { 400: 'the webhook has no such type.', 404: noSuchWebhook },
    }),
    params({ id: webhookId }),
    query({ type: testedType }),
    async (c) => {
      const { eshopId } = c.get('session');
      const { id } = c.req.valid('param');
      const { type } = c.req.valid('query');
      const result = await places.run(eshopId, async () => {
        const webhook = await turn(eshopId, () => findWebhookWithSecrets(sql, eshopId, id));
        return await sendTest(asOfType(existing('webhook', id, webhook), type));
      });
      return ok(c, 'Webhook tested.', result);
    },
  );
  return app;
}
