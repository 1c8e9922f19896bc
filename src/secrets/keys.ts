/**
 * Keys derived from the master key, and the secrets that the service makes.
 *
 * Module secrets, which imports nothing. Begin: this file.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/** Who may get a stored response: a role of an e-shop, by its `Idempotency-Key`. */
export interface ResponseOwner {
  readonly eshopId: number;
  readonly role: string;
  readonly key: string;
}

/** The owner of a secret. Sealed with it: a secret copied to another row cannot be opened there. */
export type SecretOwner =
  | { readonly eshopId: number; readonly webhookId: number }
  /** The secret of an e-shop's notices, or the private key that signs its deliveries. */
  | { readonly eshopId: number; readonly of: 'notices' | 'signing key' }
  /** A stored response, which may hold secrets. */
  | ResponseOwner;

const MAGIC = Buffer.from('WBS1', 'latin1');
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = MAGIC.length + KEY_ID_BYTES;

/** One key per purpose (HKDF-SHA256), so that no key has two uses. */
function derived(secretKey: Buffer) {
  if (secretKey.length !== 32) throw new RangeError('A master key must be 32 bytes long.');
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', secretKey, '', `waybill ${purpose}`, 32));
  return {
    header: Buffer.concat([MAGIC, derive('key id').subarray(0, KEY_ID_BYTES)]),
    secrets: derive('webhook secrets'),
    responses: derive('stored responses'),
    signingKeys: derive('signing keys'),
    token: derive('tokens'),
    checkValue: derive('check value').toString('base64url'),
  };
}

/** Opens nonce, tag and sealed text. @throws Error if they do not belong together */
function open(key: Buffer, sealed: Buffer, additional: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(additional);
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}

/** "webhook 7 of e-shop 3" */
export function ownerName(owner: SecretOwner): string {
  const within =
    'webhookId' in owner
      ? `webhook ${owner.webhookId}`
      : 'of' in owner
        ? owner.of
        : `answer to ${owner.role} ${owner.key}`;
  return `${within} of e-shop ${owner.eshopId}`;
}

/** The key that seals for an owner. */
function purposeOf(owner: SecretOwner): 'secrets' | 'responses' | 'signingKeys' {
  if ('webhookId' in owner) return 'secrets';
  if (!('of' in owner)) return 'responses';
  return owner.of === 'notices' ? 'secrets' : 'signingKeys';
}

export type Keys = ReturnType<typeof createKeys>;

/**
 * The uses of the 32 bytes of `SECRET_KEY`, and of the keys before and after it.
 * @param secretKey 32 bytes: seals and signs
 * @param others the keys before it, or the next one: they only open and verify
 * @throws RangeError for another length
 */
export function createKeys(secretKey: Buffer, others: readonly Buffer[] = []) {
  const present = derived(secretKey);
  const all = [present, ...others.map(derived)];
  const additional = (header: Buffer, owner: SecretOwner) =>
    Buffer.concat([header, Buffer.from(ownerName(owner), 'utf8')]);
  return {
    /**
     * AES-256-GCM with the owner as additional data: `WBS1`, id of the key (8 bytes), nonce (12), tag (16), sealed
     * text. Answers and signing keys have keys of their own.
     */
    encryptSecret(plain: string, owner: SecretOwner): Buffer {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', present[purposeOf(owner)], nonce);
      cipher.setAAD(additional(present.header, owner));
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([present.header, nonce, cipher.getAuthTag(), sealed]);
    },
    /** Opens secrets sealed by any of the keys. @throws Error if changed, or of another key or owner */
    decryptSecret(sealed: Buffer, owner: SecretOwner): string {
      const header = sealed.subarray(0, HEADER_BYTES);
      const key = all.find((candidate) => candidate.header.equals(header));
      if (key === undefined) {
        throw new Error(
          `The secret of ${ownerName(owner)} is sealed under the master key with the id ${header.subarray(MAGIC.length).toString('hex')}, which is neither in SECRET_KEY nor in SECRET_KEY_PREVIOUS.`,
        );
      }
      return open(key[purposeOf(owner)], sealed.subarray(HEADER_BYTES), additional(key.header, owner));
    },
    /** True if sealed by the present key. */
    isCurrent: (sealed: Buffer) => sealed.subarray(0, HEADER_BYTES).equals(present.header),
    /** Signs the tokens of logins (HS256). */
    tokenKey: present.token,
    /** Any of these may have signed a token; the present one is first. */
    tokenKeys: all.map(({ token }) => token),
    /** In the database: shows whether a process was started with the same master key. Reveals nothing about it. */
    checkValue: present.checkValue,
    /** The check values of the other keys. */
    otherCheckValues: all.slice(1).map(({ checkValue }) => checkValue),
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

/** The stored form of an API key. A fast hash is enough for 256 random bits. */
export function hashApiKey(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey, 'utf8').digest();
}
