/** The public signing keys of an e-shop, as its receivers get them (docs/interface.md, D19). */
import * as v from 'valibot';
import { component, described, time } from './fields.ts';

export const signingKeySchema = component('SigningKey', {
  kid: described(v.string(), 'Names the key: the thumbprint of its JWK (RFC 7638).'),
  publicKey: described(v.string(), '`whpk_` and the base64 of its 32 bytes, as Standard Webhooks write it.'),
  jwk: described(
    v.object({
      kty: v.literal('OKP'),
      crv: v.literal('Ed25519'),
      x: v.string(),
      use: v.literal('sig'),
      alg: v.literal('EdDSA'),
      kid: v.string(),
    }),
    'The same as a JSON Web Key (RFC 8037).',
  ),
  createdAt: time(),
  signsUntil: described(
    v.nullable(time()),
    'When a key that was replaced ceases to sign; null for the present one.',
  ),
});
export type SigningKeyRecord = v.InferOutput<typeof signingKeySchema>;
