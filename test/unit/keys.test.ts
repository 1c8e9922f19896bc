import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeys, hashApiKey, newApiKey, newWebhookSecret } from '../../src/secrets/keys.ts';
import { hashPassword, verifyPassword } from '../../src/secrets/passwords.ts';

const owner = { eshopId: 3, webhookId: 7 };

test('a sealed secret opens only under its master key, and only unchanged', () => {
  const master = randomBytes(32);
  const keys = createKeys(master);
  const secret = newWebhookSecret();
  const sealed = keys.encryptSecret(secret, owner);
  expect(sealed.includes(secret)).toBe(false);
  expect(keys.encryptSecret(secret, owner).equals(sealed)).toBe(false);
  expect(createKeys(Buffer.from(master)).decryptSecret(sealed, owner)).toBe(secret);
  expect(() => createKeys(randomBytes(32)).decryptSecret(sealed, owner)).toThrow(
    /^The secret of webhook 7 of e-shop 3 is sealed under the master key with the id [0-9a-f]{16}, which is neither in SECRET_KEY nor/,
  );
  for (let i = 0; i < sealed.length; i += 1) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8((changed.readUInt8(i) + 1) % 256, i);
    expect(() => keys.decryptSecret(changed, owner), `byte ${i}`).toThrow();
  }
});

test("a sealed secret does not open in another webhook's or e-shop's row", () => {
  const keys = createKeys(randomBytes(32));
  const sealed = keys.encryptSecret('whsec_a', owner);
  expect(() => keys.decryptSecret(sealed, { ...owner, webhookId: 8 })).toThrow();
  expect(() => keys.decryptSecret(sealed, { ...owner, eshopId: 4 })).toThrow();
});

test('a previous key opens its secrets, and the present one seals', () => {
  const [before, now] = [randomBytes(32), randomBytes(32)];
  const old = createKeys(before);
  const keys = createKeys(now, [randomBytes(32), before]);
  const sealed = old.encryptSecret('whsec_a', owner);
  expect(keys.decryptSecret(sealed, owner)).toBe('whsec_a');
  expect(keys.isCurrent(sealed)).toBe(false);
  const renewed = keys.encryptSecret('whsec_a', owner);
  expect(keys.isCurrent(renewed)).toBe(true);
  expect(createKeys(now).decryptSecret(renewed, owner)).toBe('whsec_a');
  expect(keys.otherCheckValues).toContain(old.checkValue);
});

test('a master key always gives the same keys, one for each purpose', () => {
  const master = randomBytes(32);
  const [first, second] = [createKeys(master), createKeys(master)];
  expect(second.checkValue).toBe(first.checkValue);
  expect(second.tokenKey).toEqual(first.tokenKey);
  expect(createKeys(randomBytes(32)).checkValue).not.toBe(first.checkValue);
  expect(Buffer.from(first.checkValue, 'base64url').equals(first.tokenKey)).toBe(false);
  expect(Buffer.from(first.tokenKey).equals(master)).toBe(false);
  expect(() => createKeys(randomBytes(31))).toThrow(RangeError);
});

test('secrets and API keys are long and never repeat', () => {
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
