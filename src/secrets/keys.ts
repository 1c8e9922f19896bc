/**
 * Keys derived from the master key, and the secrets that the service makes.
 *
 * Module secrets, which imports nothing. Begin: this file.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/** The owner of a secret. Sealed with it: a secret copied to another row cannot be opened there. */
export type SecretOwner =
  | { readonly eshopId: number; readonly webhookId: number }
  /** The secret of an e-shop's notices. */
  | { readonly eshopId: number; readonly of: 'notices' };

/** Who may have an answer repeated: a role of an e-shop, by its `Idempotency-Key`. Sealed with it, too. */
export interface AnswerOwner {
  readonly eshopId: number;
  readonly role: string;
  readonly key: string;
}

/** The uses of the 32 bytes of `SECRET_KEY`, and of the keys before and after it. */
export interface Keys {
  /**
   * AES-256-GCM with the owner as additional data: `WBS1`, id of the key (8 bytes), nonce (12), tag (16), sealed
   * text.
   */
  encryptSecret(plain: string, owner: SecretOwner): Buffer;
  /**
   * Opens secrets sealed by any of the keys.
   * @throws Error if the bytes were changed, or sealed under another key or for another webhook
   */
  decryptSecret(sealed: Buffer, owner: SecretOwner): string;
  /** The same for a kept answer, under a key of its own. */
  encryptAnswer(plain: string, owner: AnswerOwner): Buffer;
  /** @throws Error as {@link decryptSecret} */
  decryptAnswer(sealed: Buffer, owner: AnswerOwner): string;
  /** The same for the private signing key of an e-shop, under a key of its own. */
  encryptSigningKey(plain: string, eshopId: number): Buffer;
  /** @throws Error as {@link decryptSecret} */
  decryptSigningKey(sealed: Buffer, eshopId: number): string;
  /** True if sealed by the present key. */
  isCurrent(sealed: Buffer): boolean;
  /** Signs the tokens of logins (HS256). */
  readonly tokenKey: Uint8Array;
  /** Any of these may have signed a token; the present one is first. */
  readonly tokenKeys: readonly Uint8Array[];
  /** Kept in the database: shows whether a process was started with the same master key. Reveals nothing about it. */
  readonly checkValue: string;
  /** The check values of the other keys. */
  readonly otherCheckValues: readonly string[];
}

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
    answers: derive('kept answers'),
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

/** Within its e-shop: "webhook 7". */
export const ownerName = (owner: SecretOwner) => ('of' in owner ? owner.of : `webhook ${owner.webhookId}`);
const ofOwner = (owner: SecretOwner) => `${ownerName(owner)} of e-shop ${owner.eshopId}`;
const ofEshop = (eshopId: number) => `signing key of e-shop ${eshopId}`;
const ofAnswer = ({ eshopId, role, key }: AnswerOwner) => `answer to ${role} ${key} of e-shop ${eshopId}`;

/**
 * @param secretKey 32 bytes: seals and signs
 * @param others the keys before it, or the next one: they only open and verify
 * @throws RangeError for another length
 */
export function createKeys(secretKey: Buffer, others: readonly Buffer[] = []): Keys {
  const present = derived(secretKey);
  const all = [present, ...others.map(derived)];
  const additional = (header: Buffer, owner: string) => Buffer.concat([header, Buffer.from(owner, 'utf8')]);
  const isCurrent = (sealed: Buffer) => sealed.subarray(0, HEADER_BYTES).equals(present.header);
  type Purpose = 'secrets' | 'answers' | 'signingKeys';
  function sealFor(purpose: Purpose, plain: string, owner: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', present[purpose], nonce);
    cipher.setAAD(additional(present.header, owner));
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return Buffer.concat([present.header, nonce, cipher.getAuthTag(), sealed]);
  }
  function openFor(purpose: Purpose, sealed: Buffer, owner: string, what: string): string {
    const header = sealed.subarray(0, HEADER_BYTES);
    const key = all.find((candidate) => candidate.header.equals(header));
    if (key === undefined) {
      throw new Error(
        `${what} is sealed under the master key with the id ${header.subarray(MAGIC.length).toString('hex')}, which is neither in SECRET_KEY nor in SECRET_KEY_PREVIOUS.`,
      );
    }
    return open(key[purpose], sealed.subarray(HEADER_BYTES), additional(key.header, owner));
  }
  return {
    encryptSecret: (plain, owner) => sealFor('secrets', plain, ofOwner(owner)),
    decryptSecret: (sealed, owner) =>
      openFor('secrets', sealed, ofOwner(owner), `The secret of ${ownerName(owner)}`),
    encryptAnswer: (plain, owner) => sealFor('answers', plain, ofAnswer(owner)),
    decryptAnswer: (sealed, owner) => openFor('answers', sealed, ofAnswer(owner), 'A kept answer'),
    encryptSigningKey: (plain, eshopId) => sealFor('signingKeys', plain, ofEshop(eshopId)),
    decryptSigningKey: (sealed, eshopId) =>
      openFor('signingKeys', sealed, ofEshop(eshopId), `The signing key of e-shop ${eshopId}`),
    isCurrent,
    tokenKey: present.token,
    tokenKeys: all.map(({ token }) => token),
    checkValue: present.checkValue,
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
