/**
 * Everything derived from the master key, and the secrets that the service makes.
 * @module
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/** What the 32 bytes of `SECRET_KEY` are used for. */
export interface Keys {
  /** AES-256-GCM: nonce (12 bytes), tag (16 bytes), then the sealed text. */
  encryptSecret(plain: string): Buffer;
  /** @throws Error when the bytes were changed or sealed under another key */
  decryptSecret(sealed: Buffer): string;
  /** Signs the tokens of logins (HS256). */
  readonly tokenKey: Uint8Array;
  /** Kept in the database: tells whether a process was started with the same master key. Reveals nothing of it. */
  readonly checkValue: string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Derives one key per purpose (HKDF-SHA256), so that no key is ever used for two things.
 * @param secretKey 32 bytes
 * @throws RangeError for another length
 */
export function createKeys(secretKey: Buffer): Keys {
  if (secretKey.length !== 32) throw new RangeError('The master key must be 32 bytes long.');
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', secretKey, '', `waybill ${purpose}`, 32));
  const sealing = derive('webhook secrets');
  return {
    encryptSecret(plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce);
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    },
    decryptSecret(sealed) {
      const decipher = createDecipheriv('aes-256-gcm', sealing, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    },
    tokenKey: derive('tokens'),
    checkValue: derive('check value').toString('base64url'),
  };
}

/** A webhook's shared secret: `whsec_` and the base64 of 32 random bytes. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** An e-shop's API key: 32 random bytes, with a prefix that secret scanners can find. */
export function newApiKey(): string {
  return `wb_${randomBytes(32).toString('base64url')}`;
}

/** What is stored of an API key. A fast hash is enough for 256 random bits. */
export function hashApiKey(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey, 'utf8').digest();
}
