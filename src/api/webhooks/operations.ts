/** Activating and deactivating a webhook, and regenerating its secret (docs/interface.md, W5 and W8). */
import { Hono } from 'hono';
import * as v from 'valibot';
import { replaceSecret, setActive } from '../../db/webhooks/change.ts';
import { described } from '../../domain/fields.ts';
import { existing } from '../../domain/problem.ts';
import { newSecretSchema, webhookRecordSchema, webhookWithSecretSchema } from '../../domain/webhook.ts';
import { newWebhookSecret } from '../../secrets/keys.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { describeOperation } from '../describe.ts';
import { ok } from '../envelope.ts';
import { idempotent } from '../idempotency.ts';
import { body, params, query } from '../validate.ts';
import { activatedWebhookSchema, missedBy } from './missed.ts';
import { noSuchWebhook, recordOf, tag, webhookId } from './record.ts';

const switches = [
  {
    name: 'activate',
    summary: 'Activate a webhook',
    description:
      'Deliveries held because it was inactive resume, provided that their own 48 hours are not over: at once if the last attempt is at least the ' +
      'first interval old, else after it, so that switching on and off spends no retries. What happened meanwhile has no deliveries: `missed` counts it, and `recover` delivers it. Activating an active webhook changes nothing.',
    message: 'Webhook activated.',
    active: true,
  },
  {
    name: 'deactivate',
    summary: 'Deactivate a webhook',
    description:
      'Deliveries stop: new events create none, and every open delivery is held at once. If its 48 hours end while it is held, it becomes ' +
      '`expired`. Deactivating an inactive webhook changes nothing.',
    message: 'Webhook deactivated.',
    active: false,
  },
] as const;

export function webhookOperationRoutes(deps: ApiDeps): Hono<ApiEnv> {
  const { sql, keys, policy } = deps;
  const app = new Hono<ApiEnv>();

  for (const { name, summary, description, message, active } of switches) {
    app.put(
      `/webhooks/:id/${name}`,
      describeOperation({
        id: `${name}Webhook`,
        summary,
        description,
        tag,
        data: active ? activatedWebhookSchema : webhookRecordSchema,
        message,
        errors: { 404: noSuchWebhook },
      }),
      params({ id: webhookId }),
      async (c) => {
        const { id } = c.req.valid('param');
        const { eshopId } = c.get('session');
        const { webhook } = existing('webhook', id, await setActive(sql, eshopId, id, active));
        const missed = active ? { missed: await missedBy(sql, eshopId, webhook) } : {};
        return ok(c, message, { ...recordOf(policy, webhook), ...missed });
      },
    );
  }

  app.put(
    '/webhooks/:id/regenerate-secret',
    describeOperation({
      id: 'regenerateSecret',
      summary: 'Regenerate the secret',
      description:
        'The new secret is valid at once and is returned only now; the body may bring your own. For 24 hours, deliveries are signed with the old secret too (two signatures in the ' +
        'header, newest first), so that none is rejected while the receiver is being updated. Regenerating again drops the oldest secret; `overlap=0` drops the old one at once. The state of the webhook does not change.',
      tag,
      data: webhookWithSecretSchema,
      message: 'Secret regenerated.',
      errors: { 404: noSuchWebhook },
    }),
    params({ id: webhookId }),
    query({
      overlap: v.optional(
        described(v.picklist(['0'], 'must be 0 or left out'), '`0` drops the old secret at once.'),
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
      const row = existing(
        'webhook',
        id,
        await replaceSecret(c.get('sql') ?? sql, eshopId, id, sealed, overlap),
      );
      return ok(c, 'Secret regenerated.', { ...recordOf(policy, row), secret });
    },
  );
  return app;
}
