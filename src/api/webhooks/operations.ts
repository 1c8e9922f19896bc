/** Switching a webhook on and off, pausing it, and its secret (docs/interface.md, W5, W8, W18 and W23). */
import type { Hono } from 'hono';
import * as v from 'valibot';
import type { Pool } from '../../db/connection/pool.ts';
import { MAX_COUNTED_ROWS } from '../../db/id-range.ts';
import { countLostEvents } from '../../db/recoveries/lost-events.ts';
import { replaceSecret, setActive } from '../../db/webhooks/change.ts';
import { pauseWebhook, resumeWebhook } from '../../db/webhooks/pause.ts';
import type { WebhookRow } from '../../db/webhooks/webhooks.ts';
import { component, described, strictComponent, time, wholeNumber } from '../../domain/fields.ts';
import { orNotFound } from '../../domain/problem.ts';
import { timestamp } from '../../domain/timestamp.ts';
import { newSecretSchema, webhookRecordSchema, webhookWithSecretSchema } from '../../domain/webhook.ts';
import { MAX_PAUSE_DAYS } from '../../domain/webhook-pause.ts';
import { newWebhookSecret } from '../../secrets/keys.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { type Action, describeOperation } from '../describe.ts';
import { ok } from '../envelope.ts';
import { idempotent } from '../idempotency.ts';
import { body, params, query } from '../validate.ts';
import { noSuchWebhook, recordOf, tag, webhookId } from './record.ts';

const missed = v.pipe(
  v.object({
    since: described(
      time(),
      'When it was deactivated last, or created. After a deactivation, `recover` begins there by default.',
    ),
    count: described(
      wholeNumber(),
      `Events since then and before its activation, of the types that it had at the time, for which it has no delivery. At most ${MAX_COUNTED_ROWS} are counted.`,
    ),
  }),
  v.description('The events that it missed while it was inactive.'),
  v.metadata({ ref: 'Missed' }),
);

const activatedWebhookSchema = component('ActivatedWebhook', {
  ...webhookRecordSchema.entries,
  missed,
});

/** @param webhook as it is after the activation */
async function missedBy(sql: Pool, eshopId: number, webhook: WebhookRow) {
  const { id: webhookId, registeredAt, deactivatedAt, generationAt } = webhook;
  const since = deactivatedAt ?? registeredAt;
  const until = generationAt ?? registeredAt;
  const search = { eshopId, webhookId, since, until, include: ['missed'] as const };
  const { count } = await countLostEvents(sql, search, { enough: MAX_COUNTED_ROWS });
  return { since: since.toISOString(), count: Math.min(count, MAX_COUNTED_ROWS) };
}

/** The body of `pause`, which may be left out. */
const pauseInputSchema = strictComponent('PauseInput', {
  until: described(
    v.nullish(timestamp(), null),
    `When it ends automatically: in the future, at most ${MAX_PAUSE_DAYS} days ahead. Left out, or null: in ${MAX_PAUSE_DAYS} days.`,
  ),
});

const whileInactive = 'the webhook is inactive.';

/** The actions without a body. */
const switches: readonly (Action & {
  change(sql: Pool, eshopId: number, id: number): Promise<{ readonly webhook: WebhookRow } | null>;
})[] = [
  {
    name: 'resume',
    summary: 'End the pause of a webhook',
    description:
      'The held deliveries continue immediately. Resuming a webhook that is not paused changes nothing.',
    message: 'Webhook resumed.',
    conflict: whileInactive,
    change: resumeWebhook,
  },
  {
    name: 'activate',
    summary: 'Activate a webhook',
    description:
      'Deliveries held because it was inactive resume, provided that their own 48 hours are not over: immediately if the last attempt is at least the ' +
      'first interval old, otherwise after that interval, so that switching on and off uses up no retries. Events of the meantime have no deliveries: `missed` counts them, and `recover` delivers them. Activating an active webhook changes nothing.',
    message: 'Webhook activated.',
    change: (sql, eshopId, id) => setActive(sql, eshopId, id, true),
  },
  {
    name: 'deactivate',
    summary: 'Deactivate a webhook',
    description:
      'Deliveries stop: new events create none, and every open delivery is held immediately. If its 48 hours end while it is held, it becomes ' +
      '`expired`. Deactivating an inactive webhook changes nothing.',
    message: 'Webhook deactivated.',
    change: (sql, eshopId, id) => setActive(sql, eshopId, id, false),
  },
];

export function webhookOperationRoutes(app: Hono<ApiEnv>, deps: ApiDeps): void {
  const { sql, keys, policy } = deps;

  app.put(
    '/webhooks/:id/pause',
    describeOperation(tag, {
      id: 'pauseWebhook',
      summary: 'Pause a webhook',
      description:
        'For a maintenance window of the receiver: events still create deliveries, but none is attempted; an attempt under way finishes. The deliveries are held, with `waitsFor` `pause`, and hold up no other webhook. ' +
        `It ends automatically at \`until\`, at most ${MAX_PAUSE_DAYS} days ahead, or with \`resume\`. Its time counts neither against the 48 hours of a delivery nor as a failure. Afterwards the deliveries continue as fast as the receiver takes them, in order if the webhook has an \`ordering\`. ` +
        'Pausing a paused webhook moves the end.',
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
      const webhook = orNotFound('webhook', id, await pauseWebhook(sql, eshopId, id, end));
      return ok(c, 'Webhook paused.', recordOf(policy, webhook));
    },
  );

  for (const { change, ...action } of switches) {
    const { name, message, conflict } = action;
    const activates = name === 'activate';
    app.put(
      `/webhooks/:id/${name}`,
      describeOperation(tag, {
        ...action,
        id: `${name}Webhook`,
        data: activates ? activatedWebhookSchema : webhookRecordSchema,
        errors: { 404: noSuchWebhook, 409: conflict },
      }),
      params({ id: webhookId }),
      async (c) => {
        const { id } = c.req.valid('param');
        const { eshopId } = c.get('session');
        const { webhook } = orNotFound('webhook', id, await change(sql, eshopId, id));
        const missed = activates ? { missed: await missedBy(sql, eshopId, webhook) } : {};
        return ok(c, message, { ...recordOf(policy, webhook), ...missed });
      },
    );
  }

  app.put(
    '/webhooks/:id/regenerate-secret',
    describeOperation(tag, {
      id: 'regenerateSecret',
      summary: 'Regenerate the secret',
      description:
        'The new secret is valid immediately, and is returned only now; the body may contain your own. For 24 hours, deliveries are signed with the old secret too (two signatures in the ' +
        'header, newest first), so that none is rejected while the receiver is being updated. Regenerating again drops the oldest secret; `overlap=0` drops the old one immediately. The state of the webhook does not change.',
      data: webhookWithSecretSchema,
      message: 'Secret regenerated.',
      errors: { 404: noSuchWebhook },
    }),
    params({ id: webhookId }),
    query({
      overlap: v.optional(
        described(v.picklist(['0'], 'must be 0 or left out'), '`0` drops the old secret immediately.'),
      ),
    }),
    body(newSecretSchema, { mayBeAbsent: true }),
    idempotent(deps),
    async (c) => {
      const { id } = c.req.valid('param');
      const secret = c.req.valid('json').secret ?? newWebhookSecret();
      const overlap = c.req.valid('query').overlap === undefined;
      const { eshopId } = c.get('session');
      const sealed = keys.encryptSecret(secret, { eshopId, webhookId: id });
      const connection = c.get('sql') ?? sql;
      const row = orNotFound('webhook', id, await replaceSecret(connection, eshopId, id, sealed, overlap));
      return ok(c, 'Secret regenerated.', { ...recordOf(policy, row), secret });
    },
  );
}
