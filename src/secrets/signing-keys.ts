/**
 * The Ed25519 key pairs with which an e-shop's deliveries are signed (docs/interface.md, D19): made here, and in
 * the forms in which they are stored and shown.
 */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Keys } from './keys.ts';

export function newSigningKeyPair() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    /** PKCS #8 in base64, to be sealed. */
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    /** 32 bytes. */
    publicKey: rawOf(publicKey),
  };
}

/** A new pair for an e-shop, its private key sealed. */
export function newSealedPair(keys: Pick<Keys, 'encryptSecret'>, eshopId: number) {
  const { privateKey, publicKey } = newSigningKeyPair();
  return { privateKey: keys.encryptSecret(privateKey, { eshopId, of: 'signing key' }), publicKey };
}

/** @throws Error if it is no private key */
export function privateKeyOf(stored: string): KeyObject {
  return createPrivateKey({ key: Buffer.from(stored, 'base64'), format: 'der', type: 'pkcs8' });
}

const rawOf = (publicKey: KeyObject) => Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');

/** A public key as it is shown. @param raw its 32 bytes */
export function publicKeyFormats(raw: Buffer) {
  const x = raw.toString('base64url');
  // The members that RFC 8037 names, in the order of RFC 7638.
  const kid = createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url');
  return {
    /** The thumbprint of the JWK (RFC 7638). */
    kid,
    /** `whpk_` and the base64 of its 32 bytes, as Standard Webhooks write it. */
    publicKey: `whpk_${raw.toString('base64')}`,
    /** RFC 8037. */
    jwk: { kty: 'OKP', crv: 'Ed25519', x, use: 'sig', alg: 'EdDSA', kid } as const,
  };
}
