/**
 * Requests to a webhook's receiver that are not deliveries: a test with a sample, answered with the response
 * (docs/interface.md, W13), and an examination with the results as a table (W17).
 */
import type { Hono } from 'hono';
import type { Turns } from '../../concurrency/turns.ts';
import { beginExamination, endExamination } from '../../db/webhooks/examinations.ts';
import { findWebhookWithSecrets } from '../../db/webhooks/with-secrets.ts';
import type { EventType } from '../../domain/event-types.ts';
import { EXAMINATIONS_PER_HOUR, examinationSchema } from '../../domain/examination.ts';
import { orNotFound } from '../../domain/problem.ts';
import { asOfType, testedType, testResultSchema } from '../../domain/test-delivery.ts';
import { createPlaces } from '../budget/places.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { describeOperation } from '../describe.ts';
import { ok } from '../envelope.ts';
import { params, query } from '../validate.ts';
import { noSuchWebhook, tag, webhookId } from './record.ts';

/** The paths of both: such a request waits for a receiver, and takes no turn while it does. */
export const RECEIVER_TEST_PATHS = ['/v21/webhooks/:id/test', '/v21/webhooks/:id/examine'];

/** Tests under way at once: each may wait for its receiver for as long as an attempt may last. */
const TESTS_AT_ONCE = { total: 50, perKey: 8 };
/** Examinations under way at once. */
const EXAMINATIONS_AT_ONCE = { total: 20, perKey: 4 };
/** Added to the time of an examination, it stays within the promised two minutes. */
const QUEUE_TIMEOUT_MS = 15_000;

/** @param turn of the budget: for database access */
export function receiverTestRoutes(
  app: Hono<ApiEnv>,
  { sql, sendTest, examine }: Pick<ApiDeps, 'sql' | 'sendTest' | 'examine'>,
  turn: Turns['run'],
): void {
  const tests = createPlaces(
    TESTS_AT_ONCE,
    `At most ${TESTS_AT_ONCE.perKey} tests of an e-shop run at the same time; wait for a response.`,
    QUEUE_TIMEOUT_MS,
  );
  const examinations = createPlaces(
    EXAMINATIONS_AT_ONCE,
    `At most ${EXAMINATIONS_AT_ONCE.perKey} examinations of an e-shop run at the same time; wait for a response.`,
    QUEUE_TIMEOUT_MS,
  );

  /** @throws Problem (400, 404) */
  async function findTarget(eshopId: number, id: number, type: EventType | undefined) {
    return asOfType(orNotFound('webhook', id, await findWebhookWithSecrets(sql, eshopId, id)), type);
  }

  app.post(
    '/webhooks/:id/test',
    describeOperation(tag, {
      id: 'testWebhook',
      summary: 'Test a webhook',
      description:
        'Makes one request to the URL of the webhook, with a sample of its `webhookType`, or of the `type` in the query, and returns what was sent and what came back. Start here: it works on an inactive ' +
        'webhook too, so that a receiver can be tried before it is activated.\n\n' +
        'The request is made and evaluated like an attempt of a delivery (method, payload version, packing lists, signature, time limits, refused destinations), with an additional header, `X-Service-Test: true`, so that a receiver ' +
        'can tell it from a delivery. There is no delivery with its `X-Service-Delivery`. A test has no consequences: it is not retried, is not in the delivery log, and never deactivates the webhook.\n\n' +
        `The response takes as long as the receiver does, up to the time limit of an attempt (15 s by default). At most ${TESTS_AT_ONCE.perKey} tests of an e-shop run at the same time; further ones wait, and get a 429 if no slot becomes free within ${QUEUE_TIMEOUT_MS / 1000} s. No body.`,
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
      const result = await tests.run(eshopId, async () =>
        sendTest(await turn(eshopId, () => findTarget(eshopId, id, type))),
      );
      return ok(c, 'Webhook tested.', result);
    },
  );

  app.post(
    '/webhooks/:id/examine',
    describeOperation(tag, {
      id: 'examineWebhook',
      summary: 'Examine a receiver',
      description:
        'Makes about twenty valid and invalid requests to the URL of the webhook, all marked with `X-Service-Test: true`, and returns a row for each check, with a remedy for each fault.\n\n' +
        '`fail`: the receiver accepts a wrong signature, none, that of another body (GET: of another target) or a timestamp six minutes old, or refuses a valid request, its repeat, an older sequence, ' +
        'the largest payload, unknown fields, the two signatures of a rotation, or three requests at once. `warning`: it checks only `v1`; its responses are slow for the time limit of an attempt; it redirects; its certificate expires within 30 days; or it gives no response, 429 or 503 to an invalid request, which says nothing about its signature check. ' +
        'Whether a repeat was handled once is judged only if the receiver says so with `X-Waybill-Handled: new`, `repeat` or `stale`, as the receiver’s kit does.\n\n' +
        'Works on an inactive webhook too, and has no consequences, just like a test. The receiver gets records of its `webhookType`, or of the `type` in the query, that do not exist, each with its own identifier. ' +
        `The response takes up to 120 s. One examination of a webhook runs at a time, at most ${EXAMINATIONS_PER_HOUR} an hour, and at most ${EXAMINATIONS_AT_ONCE.perKey} of an e-shop run at the same time. No body.`,
      data: examinationSchema,
      message: 'Receiver examined.',
      errors: {
        400: 'the webhook has no such type.',
        404: noSuchWebhook,
        409: 'an examination of the webhook is under way.',
        429: `the webhook was examined ${EXAMINATIONS_PER_HOUR} times within the last hour, or too many of the e-shop are under way.`,
      },
    }),
    params({ id: webhookId }),
    query({ type: testedType }),
    async (c) => {
      const { eshopId } = c.get('session');
      const { id } = c.req.valid('param');
      const { type } = c.req.valid('query');
      const result = await examinations.run(eshopId, async () => {
        const [webhook, until] = await turn(eshopId, async () => {
          return [await findTarget(eshopId, id, type), await beginExamination(sql, id)] as const;
        });
        try {
          return await examine(webhook);
        } finally {
          await turn(eshopId, () => endExamination(sql, id, until));
        }
      });
      return ok(c, 'Receiver examined.', result);
    },
  );
}
