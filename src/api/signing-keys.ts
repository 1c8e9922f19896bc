/** The keys that sign an e-shop's deliveries where a webhook is asymmetric (docs/interface.md, D19). */
import type { Hono } from 'hono';
import * as v from 'valibot';
import {
  ensureSigningKey,
  listSigningKeys,
  type PublicKeyRow,
  replaceSigningKey,
} from '../db/accounts/signing-keys.ts';
import { described } from '../domain/fields.ts';
import { conflict } from '../domain/problem.ts';
import { type SigningKeyRecord, signingKeySchema } from '../domain/signing-key.ts';
import { OVERLAP_HOURS } from '../domain/webhook-secret.ts';
import { newSealedPair, publicKeyFormats } from '../secrets/signing-keys.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describeOperation } from './describe.ts';
import { ok } from './envelope.ts';
import { query } from './validate.ts';

const tag = 'E-shop';

const recordOf = ({ publicKey, createdAt, signsUntil }: PublicKeyRow): SigningKeyRecord => ({
  ...publicKeyFormats(publicKey),
  createdAt: createdAt.toISOString(),
  signsUntil: signsUntil?.toISOString() ?? null,
});

export function signingKeyRoutes(app: Hono<ApiEnv>, { sql, keys }: ApiDeps): void {
  const readRecords = async (eshopId: number) => (await listSigningKeys(sql, eshopId)).map(recordOf);

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
      return ok(c, 'Signing keys found.', await readRecords(eshopId));
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
      return ok(c, 'Signing key created.', await readRecords(eshopId));
    },
  );
}
