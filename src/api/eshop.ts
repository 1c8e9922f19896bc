/** The e-shop itself, and its choice of notices (docs/interface.md, N1 to N8). */
import type { Hono } from 'hono';
import { changeNotifications, readEshop } from '../db/notices/settings.ts';
import { type EshopRecord, eshopPatchSchema, eshopRecordSchema, eshopResponseOnly } from '../domain/eshop.ts';
import type { NotificationsPatch } from '../domain/notifications.ts';
import { invalid } from '../domain/problem.ts';
import { newWebhookSecret } from '../secrets/keys.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describeOperation } from './describe.ts';
import { ok } from './envelope.ts';
import { body } from './validate.ts';

const tag = 'E-shop';

export function eshopRoutes(app: Hono<ApiEnv>, deps: ApiDeps): void {
  const { sql, keys, publicUrl, deliveriesFrom } = deps;
  const withDeliveriesFrom = (record: EshopRecord) => ({ ...record, deliveriesFrom });

  app.get(
    '/eshop',
    describeOperation(tag, {
      id: 'getEshop',
      summary: 'Read the e-shop',
      description:
        'The e-shop that the API key belongs to, which notices it gets, and where deliveries come from.',
      data: eshopRecordSchema,
      message: 'E-shop found.',
    }),
    async (c) => ok(c, 'E-shop found.', withDeliveriesFrom(await readEshop(sql, c.get('session').eshopId))),
  );

  app.patch(
    '/eshop',
    describeOperation(tag, {
      id: 'patchEshop',
      summary: 'Change notifications',
      description:
        'Changes which notices are sent, and where besides `email`; fields left out stay as they are. With `warning`, a notice is sent before a webhook whose ' +
        'deliveries fail is deactivated: after six hours without an accepted delivery, or a day before the retries of a delivery are exhausted, whichever comes ' +
        'first. The notice of a deactivation cannot be turned off. With `recovered`, a notice is sent when the webhook has recovered. ' +
        'The response to a first `url` contains its `secret`, which is never returned again.',
      data: eshopRecordSchema,
      message: 'E-shop updated.',
      errors: {
        400: 'failed validation, or a new value for a field that only the operator changes.',
        429: 'ten confirmation mails were requested within a day.',
      },
    }),
    body(eshopPatchSchema, {
      responseOnly: eshopResponseOnly,
      present: async (c) => withDeliveriesFrom(await readEshop(sql, c.get('session').eshopId)),
    }),
    async (c) => {
      const { eshopId } = c.get('session');
      const change: NotificationsPatch = c.req.valid('json').notifications ?? {};
      const { url } = change;
      // One that stays is not refused, as with webhooks.
      const before = url == null ? null : (await readEshop(sql, eshopId)).notifications.url;
      const problem = url == null ? null : deps.destinationProblem(url, before ?? undefined);
      if (problem !== null) throw invalid([{ path: 'notifications.url', message: problem }]);
      const changed = await changeNotifications(sql, eshopId, change, {
        canLink: publicUrl !== null,
        seal: (secret) => keys.encryptSecret(secret, { eshopId, of: 'notices' }),
        newSecret: newWebhookSecret,
      });
      const { eshop, secret } = changed;
      const notifications = { ...eshop.notifications, ...(secret === null ? {} : { secret }) };
      return ok(c, 'E-shop updated.', withDeliveriesFrom({ ...eshop, notifications }));
    },
  );
}
