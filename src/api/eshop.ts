/** The e-shop itself with its choice of notices, and its signing keys (docs/interface.md, N1 to N8, and D19). */
import type { Hono } from 'hono';
import * as v from 'valibot';
import {
  ensureSigningKey,
  listSigningKeys,
  type PublicKeyRow,
  replaceSigningKey,
} from '../db/accounts/signing-keys.ts';
import { changeNotifications, readEshop } from '../db/notices/settings.ts';
import { type EshopRecord, eshopPatchSchema, eshopRecordSchema, eshopResponseOnly } from '../domain/eshop.ts';
import { described } from '../domain/fields.ts';
import type { NotificationsPatch } from '../domain/notifications.ts';
import { conflict, invalid } from '../domain/problem.ts';
import { type SigningKeyRecord, signingKeySchema } from '../domain/signing-key.ts';
import { OVERLAP_HOURS } from '../domain/webhook-secret.ts';
import { newWebhookSecret } from '../secrets/keys.ts';
import { newSealedPair, publicKeyFormats } from '../secrets/signing-keys.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describeOperation } from './describe.ts';
import { ok } from './envelope.ts';
import { body, query } from './validate.ts';

const tag = 'E-shop';

const keyRecordOf = ({ publicKey, createdAt, signsUntil }: PublicKeyRow): SigningKeyRecord => ({
  ...publicKeyFormats(publicKey),
  createdAt: createdAt.toISOString(),
  signsUntil: signsUntil?.toISOString() ?? null,
});

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
      // A URL that stays the same is not refused, as with webhooks.
      const before = url == null ? null : (await readEshop(sql, eshopId)).notifications.url;
      const problem = url == null ? null : deps.destinationProblem(url, before ?? undefined);
      if (problem !== null) throw invalid([{ path: 'notifications.url', message: problem }]);
      const { eshop, secret } = await changeNotifications(sql, eshopId, change, {
        canLink: publicUrl !== null,
        seal: (secret) => keys.encryptSecret(secret, { eshopId, of: 'notices' }),
        newSecret: newWebhookSecret,
      });
      const notifications = { ...eshop.notifications, ...(secret === null ? {} : { secret }) };
      return ok(c, 'E-shop updated.', withDeliveriesFrom({ ...eshop, notifications }));
    },
  );

  const readKeys = async (eshopId: number) => (await listSigningKeys(sql, eshopId)).map(keyRecordOf);

  app.get(
    '/eshop/signing-keys',
    describeOperation(tag, {
      id: 'listSigningKeys',
      summary: 'List the public signing keys',
      description:
        'The public keys (Ed25519), newest first. Deliveries of webhooks with `asymmetric` have a `v1a` for each in `webhook-signature`. There is ' +
        'one, or two for a day after the next one was made. The first is made when it is requested or needed. Private keys never leave the service.',
      data: v.array(signingKeySchema),
      message: 'Signing keys found.',
    }),
    async (c) => {
      const { eshopId } = c.get('session');
      await ensureSigningKey(sql, eshopId, () => newSealedPair(keys, eshopId));
      return ok(c, 'Signing keys found.', await readKeys(eshopId));
    },
  );

  app.post(
    '/eshop/signing-keys',
    describeOperation(tag, {
      id: 'createSigningKey',
      summary: 'Make the next signing key',
      description:
        `The new key signs immediately, and the present one for ${OVERLAP_HOURS} more hours: give the new public key to your receivers in the meantime. ` +
        'Returns both. While two keys sign, a third cannot be made (409); `overlap=0` ends all older ones immediately, for a key that can no longer be trusted.',
      data: v.array(signingKeySchema),
      message: 'Signing key created.',
      errors: { 409: 'an older key still signs.' },
    }),
    query({
      overlap: v.optional(
        described(v.picklist(['0'], 'must be 0 or left out'), '`0` ends the older keys immediately.'),
      ),
    }),
    async (c) => {
      const { eshopId } = c.get('session');
      const overlap = c.req.valid('query').overlap === undefined;
      const until = await replaceSigningKey(sql, eshopId, newSealedPair(keys, eshopId), overlap);
      if (until !== null)
        throw conflict(
          `Two keys sign until ${until.toISOString()}: make the next one then, or end the older ones now with overlap=0.`,
        );
      return ok(c, 'Signing key created.', await readKeys(eshopId));
    },
  );
}
