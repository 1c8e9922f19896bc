/** Pausing a webhook for a time, and ending its pause (docs/interface.md, W23). */
import { Hono } from 'hono';
import * as v from 'valibot';
import { pauseWebhook, resumeWebhook } from '../../db/webhooks/pause.ts';
import { described } from '../../domain/fields.ts';
import { existing } from '../../domain/problem.ts';
import { timestamp } from '../../domain/timestamp.ts';
import { webhookRecordSchema } from '../../domain/webhook.ts';
import { MAX_PAUSE_DAYS } from '../../domain/webhook-pause.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { describeOperation } from '../describe.ts';
import { ok } from '../envelope.ts';
import { body, params } from '../validate.ts';
import { noSuchWebhook, recordOf, tag, webhookId } from './record.ts';

/** The body of `pause`, which may be left out. */
const pauseInputSchema = v.pipe(
  v.strictObject({
    until: described(
      v.nullish(timestamp(), null),
      `When it ends by itself: in the future, at most ${MAX_PAUSE_DAYS} days ahead. Left out, or null: in ${MAX_PAUSE_DAYS} days.`,
    ),
  }),
  v.metadata({ ref: 'PauseInput' }),
);

const whileInactive = 'the webhook is inactive.';

export function webhookPauseRoutes({ sql, policy }: ApiDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();

  app.put(
    '/webhooks/:id/pause',
    describeOperation({
      id: 'pauseWebhook',
      summary: 'Pause a webhook',
      description:
        'For a maintenance window of the receiver: events go on creating deliveries, but none is attempted; an attempt under way ends. The deliveries are held, with `waitsFor` `pause`, and hold up no other webhook. ' +
        `It ends by itself at \`until\`, at most ${MAX_PAUSE_DAYS} days ahead, or with \`resume\`. Its time counts neither against the 48 hours of a delivery nor as a failure. Afterwards the deliveries are made in order where an order is kept, as fast as the receiver takes them. ` +
        'Pausing a paused webhook moves the end.',
      tag,
      data: webhookRecordSchema,
      message: 'Webhook paused.',
      errors: { 404: noSuchWebhook, 409: whileInactive },
    }),
    params({ id: webhookId }),
    body(pauseInputSchema, { mayBeAbsent: true }),
    async (c) => {
      const { id } = c.req.valid('param');
      const { until } = c.req.valid('json');
      const end = until === null ? null : new Date(until);
      const { eshopId } = c.get('session');
      const webhook = existing('webhook', id, await pauseWebhook(sql, eshopId, id, end));
      return ok(c, 'Webhook paused.', recordOf(policy, webhook));
    },
  );

  app.put(
    '/webhooks/:id/resume',
    describeOperation({
      id: 'resumeWebhook',
      summary: 'End the pause of a webhook',
      description:
        'The held deliveries go on at once. Resuming a webhook that is not paused changes nothing.',
      tag,
      data: webhookRecordSchema,
      message: 'Webhook resumed.',
      errors: { 404: noSuchWebhook, 409: whileInactive },
    }),
    params({ id: webhookId }),
    async (c) => {
      const { id } = c.req.valid('param');
      const { eshopId } = c.get('session');
      const { webhook } = existing('webhook', id, await resumeWebhook(sql, eshopId, id));
      return ok(c, 'Webhook resumed.', recordOf(policy, webhook));
    },
  );
  return app;
}
