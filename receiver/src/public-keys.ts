/** The e-shop's public keys, with which `v1a` of `webhook-signature` is verified, and common mistakes in them. */
import { type Bytes, fromBase64 } from './bytes.ts';
import { Refused } from './refused.ts';

/**
 * A public key as a JSON Web Key (RFC 8037): `jwk` in the answer of `GET /eshop/signing-keys`. Further members are
 * ignored.
 */
export interface PublicKeyJwk {
  readonly kty: string;
  readonly crv: string;
  /** Its 32 bytes in base64url. */
  readonly x: string;
}

/** `whpk_…`, or the same as JWK: `publicKey` and `jwk` in the answer of `GET /eshop/signing-keys`. */
export type PublicKey = string | PublicKeyJwk;

/** One public key, or several: the present and the next one while a key is being replaced. */
export type PublicKeys = PublicKey | readonly PublicKey[];

/** The public keys, ready to verify with. */
export interface PublicKeySource {
  readonly count: number;
  /**
   * Whether one of the keys made one of the signatures over this content.
   * @throws Refused if the runtime does not support Ed25519
   */
  signed(signatures: readonly Bytes[], content: Bytes): Promise<boolean>;
}

/** WebCrypto's type, which not every runtime declares by name. */
type VerifyKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const PREFIX = 'whpk_';
/** 32 bytes in base64. */
const ENCODED = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
/** The number of bytes of a signature. */
const SIGNATURE_BYTES = 64;

/** The problem with a key, as a sentence that does not contain it; null if there is none. */
function problemOf(key: unknown, name: string): string | null {
  if (typeof key === 'object' && key !== null) return problemOfJwk(key, name);
  if (typeof key !== 'string')
    return `${name} is ${key === null ? 'null' : typeof key}, neither a text nor a JWK: is the variable it comes from set?`;
  if (key === '') return `${name} is empty: is the variable it comes from set?`;
  if (key !== key.trim()) return `${name} begins or ends with whitespace: remove it.`;
  if (/^whsk_|PRIVATE KEY/.test(key)) return privateKey(name);
  if (key.startsWith('whsec_')) return `${name} is a shared secret: it belongs in secrets.`;
  if (!key.startsWith(PREFIX))
    return `${name} does not begin with ${PREFIX}: it must be a "publicKey" from GET /eshop/signing-keys, or its "jwk".`;
  return problemOfBytes(
    key.slice(PREFIX.length),
    `${name} is not ${PREFIX} and the base64 of 32 bytes`,
    name,
  );
}

function problemOfJwk(key: object, name: string): string | null {
  if ('d' in key) return privateKey(name);
  const { kty, crv, x }: Partial<PublicKeyJwk> = key;
  const wrong = `${name} is not a JWK of Ed25519, with kty "OKP", crv "Ed25519" and the base64url of 32 bytes as x`;
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string' || /[+/=]/.test(x)) return `${wrong}.`;
  return problemOfBytes(paddedOf(x), wrong, name);
}

function problemOfBytes(encoded: string, wrong: string, name: string): string | null {
  if (!ENCODED.test(encoded)) return `${wrong}: was all of it copied?`;
  // Nobody's key, but a point for which signatures can be forged.
  if (/^A+=$/.test(encoded)) return `${name} consists of zeros: put the key in its place.`;
  return null;
}

const privateKey = (name: string) =>
  `${name} is a private key, which only the sender may have: if it was its own, replace it (POST /eshop/signing-keys?overlap=0).`;

/** From base64url without padding to base64. */
const paddedOf = (x: string) => `${x.replaceAll('-', '+').replaceAll('_', '/')}=`;

const isList = (keys: PublicKeys): keys is readonly PublicKey[] => Array.isArray(keys);

/**
 * Checks the keys.
 * @throws TypeError naming the problem of the first bad one: not set, cut off, a private key, a shared secret
 */
export function publicKeySource(keys: PublicKeys): PublicKeySource {
  const list = isList(keys) ? keys : [keys];
  if (list.length === 0) throw new TypeError('publicKeys is an empty list.');
  const all = list.map((key, index) => {
    const problem = problemOf(key, isList(keys) ? `publicKeys[${index}]` : 'publicKeys');
    if (problem !== null) throw new TypeError(problem);
    return fromBase64(typeof key === 'string' ? key.slice(PREFIX.length) : paddedOf(key.x));
  });
  let imported: Promise<VerifyKey[]> | null = null;
  return {
    count: all.length,
    async signed(signatures, content) {
      imported ??= Promise.all(all.map(importedKey));
      const verified = (await imported).flatMap((key) =>
        signatures
          .filter(({ length }) => length === SIGNATURE_BYTES)
          .map((signature) => crypto.subtle.verify('Ed25519', key, signature, content)),
      );
      return (await Promise.all(verified)).includes(true);
    },
  };
}

/** @throws Refused */
async function importedKey(key: Bytes): Promise<VerifyKey> {
  try {
    return await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Refused('setup', 500, `WebCrypto of this runtime takes no key of Ed25519 (${why}).`);
  }
}
