/** The e-shop itself, and its choice of notifications (docs/interface.md, N1 and N2). */
import { Hono } from 'hono';
import { changeNotifications, readEshop } from '../db/eshops.ts';
import { type EshopRecord, eshopPatchSchema, eshopRecordSchema, eshopResponseOnly } from '../domain/eshop.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describeOperation } from './describe.ts';
import { ok } from './envelope.ts';
import { body } from './validate.ts';

const tag = 'E-shop';

export function eshopRoutes({ sql, deliveriesFrom }: ApiDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const shown = (record: EshopRecord) => ({ ...record, deliveriesFrom });

  app.get(
    '/eshop',
    describeOperation({
      id: 'getEshop',
      summary: 'Read the e-shop',
      description:
        'The e-shop that the API key belongs to, which notifications it gets, and where deliveries come from.',
      tag,
      data: eshopRecordSchema,
      message: 'E-shop found.',
    }),
    async (c) => ok(c, 'E-shop found.', shown(await readEshop(sql, c.get('session').eshopId))),
  );

  app.patch(
    '/eshop',
    describeOperation({
      id: 'patchEshop',
      summary: 'Change notifications',
      description:
        'Changes which notifications are sent; what is left out stays as it is. With `warning`, one e-mail is sent before a webhook whose ' +
        'deliveries fail is deactivated: after six hours without an accepted delivery, or a day before the retries of a delivery are exhausted, whichever comes ' +
        'first. The e-mail after a deactivation cannot be turned off.',
      tag,
      data: eshopRecordSchema,
      message: 'E-shop updated.',
      errors: { 400: 'failed validation, or a field with another value that only the operator changes.' },
    }),
    body(eshopPatchSchema, {
      responseOnly: eshopResponseOnly,
      present: async (c) => shown(await readEshop(sql, c.get('session').eshopId)),
    }),
    async (c) => {
      const { notifications } = c.req.valid('json');
      const record = await changeNotifications(sql, c.get('session').eshopId, notifications ?? {});
      return ok(c, 'E-shop updated.', shown(record));
    },
  );
  return app;
}
