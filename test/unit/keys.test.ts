import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeys, hashApiKey, newApiKey, newWebhookSecret } from '../../src/keys.ts';
import { hashPassword, verifyPassword } from '../../src/passwords.ts';

test('a sealed secret opens under the same master key only, and not when changed', () => {
  const master = randomBytes(32);
  const keys = createKeys(master);
  const secret = newWebhookSecret();
  const sealed = keys.encryptSecret(secret);
  expect(sealed.includes(secret)).toBe(false);
  expect(keys.encryptSecret(secret).equals(sealed)).toBe(false);
  expect(createKeys(Buffer.from(master)).decryptSecret(sealed)).toBe(secret);
  expect(() => createKeys(randomBytes(32)).decryptSecret(sealed)).toThrow();
  for (let i = 0; i < sealed.length; i += 7) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8((changed.readUInt8(i) + 1) % 256, i);
    expect(() => keys.decryptSecret(changed)).toThrow();
  }
});

test('one master key gives the same keys every time, each for its own purpose', () => {
  const master = randomBytes(32);
  const [first, second] = [createKeys(master), createKeys(master)];
  expect(second.checkValue).toBe(first.checkValue);
  expect(second.tokenKey).toEqual(first.tokenKey);
  expect(createKeys(randomBytes(32)).checkValue).not.toBe(first.checkValue);
  expect(Buffer.from(first.checkValue, 'base64url').equals(first.tokenKey)).toBe(false);
  expect(Buffer.from(first.tokenKey).equals(master)).toBe(false);
  expect(() => createKeys(randomBytes(31))).toThrow(RangeError);
});

test('secrets and API keys are long and never the same', () => {
  expect(newWebhookSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(newApiKey()).toMatch(/^wb_[\w-]{43}$/);
  expect(newWebhookSecret()).not.toBe(newWebhookSecret());
  expect(newApiKey()).not.toBe(newApiKey());
  expect(hashApiKey('a').equals(hashApiKey('a'))).toBe(true);
  expect(hashApiKey('a').equals(hashApiKey('b'))).toBe(false);
});

test('passwords are hashed with argon2id, salted, and verified', async () => {
  const hash = await hashPassword('correct horse');
  expect(hash).toMatch(/^\$argon2id\$/);
  expect(await hashPassword('correct horse')).not.toBe(hash);
  expect(await verifyPassword(hash, 'correct horse')).toBe(true);
  expect(await verifyPassword(hash, 'correct horsf')).toBe(false);
  expect(await verifyPassword('damaged', 'correct horse')).toBe(false);
});
