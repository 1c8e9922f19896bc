/**
 * Private keys with which the tools for tests sign `v1a`, as the warehouse does with its own. They have the form of
 * Standard Webhooks: `whsk_` and the base64 of 64 bytes, the private half and the public key.
 */
import { type Bytes, fromBase64, join, toBase64 } from './bytes.ts';

const PREFIX = 'whsk_';
/** 64 bytes in base64. */
const ENCODED = /^whsk_[A-Za-z0-9+/]{85}[AQgw]==$/;
/** The number of bytes of each half. */
const HALF = 32;
/** The bytes before the private half in PKCS #8 (RFC 8410). */
const PKCS8 = Uint8Array.from([48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32]);

const bytesOf = (key: string) => fromBase64(key.slice(PREFIX.length));

/** The public key of a private one: `whpk_…`. */
export const publicKeyOf = (key: string): string => `whpk_${toBase64(bytesOf(key).slice(HALF))}`;

/** The problem with a private key, as a sentence that does not contain it; null if there is none. */
export function problemOfPrivateKey(key: string, name: string): string | null {
  if (key.startsWith('whpk_')) return `${name} is a public key: it belongs in the receiver.`;
  return ENCODED.test(key)
    ? null
    : `${name} is not ${PREFIX} and the base64 of 64 bytes: was all of it copied?`;
}

/** Makes a new private key. */
export async function newPrivateKey(): Promise<string> {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  // Without the types of Node.js, the compiler allows for the result of any algorithm.
  if (!('privateKey' in pair)) throw new Error('WebCrypto of this runtime makes no key pairs of Ed25519.');
  const made = new Uint8Array(await crypto.subtle.exportKey('pkcs8', pair.privateKey));
  const publicKey = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
  return `${PREFIX}${toBase64(join(made.slice(PKCS8.length), publicKey))}`;
}

/** The signature over the content, in base64. */
export async function signatureOf(key: string, content: Bytes): Promise<string> {
  const pkcs8 = join(PKCS8, bytesOf(key).slice(0, HALF));
  const imported = await crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', false, ['sign']);
  return toBase64(new Uint8Array(await crypto.subtle.sign('Ed25519', imported, content)));
}
