/**
 * `waybill keys rotate` against a running API: every secret goes on signing, whichever key a process started with.
 */
import { createPublicKey, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTokenVerifier } from '../../src/api/token.ts';
import { resealAll } from '../../src/app/key-rotation.ts';
import { commandKeys, masterKeys } from '../../src/app/master-key.ts';
import { signingSecrets } from '../../src/attempt/prepare.ts';
import { readSettings } from '../../src/config/config.ts';
import { readLostWebhooks } from '../../src/db/incidents/warnings.ts';
import { readNotice } from '../../src/db/notices/notice.ts';
import { claimNotices } from '../../src/db/notices/pending.ts';
import { type DataDir, openDataDir } from '../../src/embedded/data-dir.ts';
import { createKeys, type Keys } from '../../src/secrets/keys.ts';
import { privateKeyOf } from '../../src/secrets/signing-keys.ts';
import { openHeaders } from '../../src/secrets/static-headers.ts';
import { createTestApi, type TestApi } from '../support/api/api.ts';
import { createWebhook, openedSecret, webhookRow } from '../support/api/webhooks.ts';
import { folderOfTest } from '../support/ends.ts';
import { runWaybill } from '../support/programs/waybill-command.ts';

let directory: string;
let dataDir: DataDir;
let api: TestApi;
let secrets: Map<number, string>;

const base64 = (key: Buffer) => key.toString('base64');
const [first, second] = [randomBytes(32), randomBytes(32)];

/** An API whose webhooks are sealed under these keys. */
async function arrange(keys: Keys): Promise<void> {
  api = await createTestApi({ keys });
  secrets = new Map();
  for (let i = 0; i < 5; i += 1) {
    const { id, secret } = await createWebhook(api.shop, { headers: { 'X-Gateway-Key': 'their key' } });
    secrets.set(id, secret);
  }
}

/** The secrets of all webhooks, as read by a process with these keys. */
async function readBy(keys: Keys): Promise<Map<number, string>> {
  const read = new Map<number, string>();
  for (const id of secrets.keys()) {
    const row = await webhookRow(api.sql, id);
    read.set(id, openedSecret(keys, row, 'secret'));
    const headers = openHeaders(keys, row?.headers, { eshopId: row?.eshopId, webhookId: id });
    expect(headers).toEqual({ 'X-Gateway-Key': 'their key' });
  }
  return read;
}

/** The sealed private keys of an e-shop: the present one, and the one before if there is one. */
async function signingKeysOf(eshopId: number): Promise<Buffer[]> {
  const [row] = await api.sql<{ present: Buffer; previous: Buffer | null }[]>`
    select private_key as present, previous_private_key as previous from signing_keys where eshop_id = ${eshopId}`;
  return [row?.present, row?.previous].flatMap((each) => each ?? []);
}

/** `x` in the JWK of the public key. */
const publicKeyOf = (privateKey: string) =>
  createPublicKey(privateKeyOf(privateKey)).export({ format: 'jwk' }).x;

beforeEach(async () => {
  directory = await folderOfTest('waybill-keys-');
  dataDir = await openDataDir(join(directory, 'data'));
});
afterEach(() => api.drop());

describe('keys rotate with SECRET_KEY', () => {
  const environment = (key: Buffer, previous: readonly Buffer[] = []) => ({
    DATABASE_URL: api.database.url,
    DATA_DIR: dataDir.path,
    SECRET_KEY: base64(key),
    SECRET_KEY_PREVIOUS: previous.map(base64).join(','),
  });
  /** The keys of a process that starts with this environment. */
  const started = (...args: Parameters<typeof environment>) =>
    masterKeys(api.sql, readSettings(environment(...args)), dataDir);
  const rotate = async (...args: Parameters<typeof environment>) =>
    JSON.parse(await runWaybill(['keys', 'rotate', '--json'], environment(...args)));

  beforeEach(async () => {
    await arrange(createKeys(first));
    await started(first);
  });

  it('a process with another key starts only if it also has the previous one, and then reads everything', async () => {
    await expect(started(second)).rejects.toThrow(
      /^SECRET_KEY is not the one that this database was created with\./,
    );
    expect(await readBy(await started(second, [first]))).toEqual(secrets);
    // As in a rolling restart: the process with the old key gets the new one early, and reads what that seals.
    const forewarned = await started(first, [second]);
    const { id, secret } = await createWebhook(api.shop);
    await resealAll(api.sql, createKeys(second, [first]));
    expect(openedSecret(forewarned, await webhookRow(api.sql, id), 'secret')).toBe(secret);
  });

  it('refuses until a process has the new key; then reseals everything, and the previous key is obsolete', async () => {
    expect(await rotate(second, [first])).toEqual({ state: 'restartNeeded' });
    expect(await readBy(createKeys(first))).toEqual(secrets);
    await started(second, [first]);
    const [rotated] = secrets.keys();
    const { data } = await api.shop('PUT', `/v21/webhooks/${rotated}/regenerate-secret`);
    const before = secrets.get(rotated ?? 0);
    secrets.set(rotated ?? 0, data.secret);
    await api.shop('DELETE', `/v21/webhooks/${[...secrets.keys()].at(-1)}`);

    expect(await rotate(second, [first])).toEqual({ state: 'complete', resealed: 5 });
    const alone = await started(second);
    expect(await readBy(alone)).toEqual(secrets);
    // The secret that still signs beside the new one is resealed too.
    expect(openedSecret(alone, await webhookRow(api.sql, rotated ?? 0), 'previousSecret')).toBe(before);
    await expect(started(first)).rejects.toThrow(/^SECRET_KEY is not the one/);
    await expect(rotate(second)).rejects.toThrow(
      'There is nothing to rotate: all secrets are sealed under this key already.',
    );
  });

  it('commands seal under the previous key until a process has the new one', async () => {
    const sealing = async () =>
      (await commandKeys(api.sql, readSettings(environment(second, [first])), dataDir)).checkValue;
    expect(await sealing()).toBe(createKeys(first).checkValue);
    await started(second, [first]);
    expect(await sealing()).toBe(createKeys(second).checkValue);
  });

  it('an interrupted rotation resumes where it stopped', async () => {
    const keys = await started(second, [first]);
    const [, , third] = secrets.keys();
    const killed = new Error('killed');
    const dying: Keys = {
      ...keys,
      isCurrent(sealed) {
        if (looked === third) throw killed;
        looked += 1;
        return keys.isCurrent(sealed);
      },
    };
    let looked = Math.min(...secrets.keys());
    await expect(resealAll(api.sql, dying, { batch: 1 })).rejects.toBe(killed);
    expect(await readBy(keys)).toEqual(secrets);
    expect(await rotate(second, [first])).toEqual({ state: 'complete', resealed: 3 });
    expect(await readBy(createKeys(second))).toEqual(secrets);
  });

  it('the secret of an e-shop’s notices is resealed, and reported if no key opens it', async () => {
    const { eshopId } = api.eshop;
    const owner = { eshopId, of: 'notices' } as const;
    const { data } = await api.shop('PATCH', '/v21/eshop', {
      notifications: { url: 'https://chat.example' },
    });
    const stored = async () => {
      const [row] = await api.sql<{ secret: Buffer }[]>`
        select notice_secret as secret from eshops where id = ${eshopId}`;
      return row?.secret ?? Buffer.alloc(0);
    };
    const sealed = await stored();
    expect(sealed.toString('latin1')).not.toContain(data.notifications.secret);
    // Nobody can use it as the secret of a webhook.
    expect(() => createKeys(first).decryptSecret(sealed, { eshopId, webhookId: 1 })).toThrow();
    await started(second, [first]);
    await api.sql`update eshops set notice_secret = ${randomBytes(90)} where id = ${eshopId}`;
    await expect(rotate(second, [first])).rejects.toThrow(
      `none of the keys opens those of the notices of e-shop ${eshopId}:`,
    );
    await api.sql`update eshops set notice_secret = ${sealed} where id = ${eshopId}`;
    await rotate(second, [first]);
    expect(createKeys(second).decryptSecret(await stored(), owner)).toBe(data.notifications.secret);
  });

  it('both signing keys of an e-shop are resealed, and one that no key opens is reported', async () => {
    const { eshopId } = api.eshop;
    const path = '/v21/eshop/signing-keys';
    await api.shop('GET', path);
    const { data: shown } = await api.shop('POST', path);
    const stored = () => signingKeysOf(eshopId);
    const [present, previous] = await stored();
    await started(second, [first]);
    await api.sql`update signing_keys set private_key = ${randomBytes(90)} where eshop_id = ${eshopId}`;
    await expect(rotate(second, [first])).rejects.toThrow(`the signing key of e-shop ${eshopId}`);
    await api.sql`update signing_keys set private_key = ${present ?? null} where eshop_id = ${eshopId}`;
    await rotate(second, [first]);
    const sealed = await stored();
    expect(sealed).not.toEqual([present, previous]);
    const opened = sealed.map((each) =>
      publicKeyOf(createKeys(second).decryptSecret(each, { eshopId, of: 'signing key' })),
    );
    expect(opened).toEqual(shown.map(({ jwk }: { jwk: { x: string } }) => jwk.x));
  });

  it('a lost signing key is replaced, and the e-shop is mailed the webhooks it signs', async () => {
    const { eshopId } = api.eshop;
    const { id } = await createWebhook(api.shop, { asymmetric: true });
    const path = '/v21/eshop/signing-keys';
    const { data: before } = await api.shop('POST', path);
    await runWaybill(['keys', 'replace', '--lost', '--yes'], environment(second));
    const [present, previous] = await signingKeysOf(eshopId);
    const x = publicKeyOf(
      createKeys(second).decryptSecret(present ?? Buffer.alloc(0), { eshopId, of: 'signing key' }),
    );
    const { data: after } = await api.shop('GET', path);
    expect(after.map(({ jwk }: { jwk: { x: string } }) => jwk.x)).toEqual([x]);
    expect(before.map(({ jwk }: { jwk: { x: string } }) => jwk.x)).not.toContain(x);
    expect(previous).toBeUndefined();
    const [warning] = await api.sql<{ lost: { id: number; signingKey: boolean }[] }[]>`
      select lost_secrets as lost from notices`;
    const signed = warning?.lost.filter(({ signingKey }) => signingKey).map((each) => each.id);
    expect(warning?.lost).toHaveLength(secrets.size + 1);
    expect(signed).toEqual([id]);
  });

  it('an e-shop that lost only its signing key is mailed the webhooks it signs', async () => {
    const { eshopId } = api.eshop;
    const { id } = await createWebhook(api.shop, { asymmetric: true });
    await started(second, [first]);
    await rotate(second, [first]);
    const broken = randomBytes(90);
    await api.sql`update signing_keys set private_key = ${broken} where eshop_id = ${eshopId}`;
    const replace = (...args: string[]) =>
      runWaybill(['keys', 'replace', '--lost', '--json', ...args], environment(second));
    const webhooks = [{ id, secret: false, headers: [], signingKey: true }];

    const planned = JSON.parse(await replace('--dry-run'));
    expect(planned).toEqual({ dryRun: true, eshops: [expect.objectContaining({ eshopId, webhooks })] });
    expect(await signingKeysOf(eshopId)).toEqual([broken]);
    expect(JSON.parse(await replace('--yes'))).toEqual({ ...planned, dryRun: false });
    const [made = Buffer.alloc(0)] = await signingKeysOf(eshopId);
    const x = publicKeyOf(createKeys(second).decryptSecret(made, { eshopId, of: 'signing key' }));
    const { data: shown } = await api.shop('GET', '/v21/eshop/signing-keys');
    expect(shown.map(({ jwk }: { jwk: { x: string } }) => jwk.x)).toEqual([x]);
    const [notice] = await claimNotices(api.sql, 10);
    expect(notice).toMatchObject({ eshopId, kind: 'lostSecrets' });
    expect(await readLostWebhooks(api.sql, notice?.id ?? '')).toMatchObject(webhooks);
    await expect(replace('--yes')).rejects.toThrow('Nothing is lost');
  });

  it('a lost signing key that no webhook signs with is replaced, and nobody is mailed', async () => {
    const { eshopId } = api.eshop;
    await api.shop('GET', '/v21/eshop/signing-keys');
    await started(second, [first]);
    await rotate(second, [first]);
    const broken = randomBytes(90);
    await api.sql`update signing_keys set private_key = ${broken} where eshop_id = ${eshopId}`;
    const output = await runWaybill(['keys', 'replace', '--lost', '--yes'], environment(second));
    expect(output).toContain('a signing key that no webhook signs with');
    const [made = Buffer.alloc(0)] = await signingKeysOf(eshopId);
    expect(() => createKeys(second).decryptSecret(made, { eshopId, of: 'signing key' })).not.toThrow();
    expect(await claimNotices(api.sql, 10)).toEqual([]);
  });

  it('a lost secret of notices is counted, mailed, and replaced only together with everything else', async () => {
    const { eshopId } = api.eshop;
    const notifications = { url: 'https://chat.example' };
    await api.shop('PATCH', '/v21/eshop', { notifications });
    const stored = async () => {
      const [row] = await api.sql<{ secret: Buffer }[]>`
        select notice_secret as secret from eshops where id = ${eshopId}`;
      return row?.secret ?? Buffer.alloc(0);
    };
    await started(second, [first]);
    await rotate(second, [first]);
    const broken = randomBytes(90);
    await api.sql`update eshops set notice_secret = ${broken} where id = ${eshopId}`;
    const replace = (...args: string[]) =>
      runWaybill(['keys', 'replace', '--lost', ...args], environment(second));

    const planned = JSON.parse(await replace('--dry-run', '--json'));
    expect(planned.eshops).toMatchObject([{ eshopId, webhooks: [], notices: true }]);
    expect(await replace('--dry-run')).toBe(
      `E-shop ${eshopId} (${planned.eshops[0].name}, ${planned.eshops[0].email}): notices (secret)\n` +
        'The lost secrets and keys of 0 webhooks, and of the notices of 1 e-shop, would be replaced. Nothing was changed (dry run).',
    );
    await api.sql`alter table notices add constraint refused check (kind <> 'lostSecrets')`;
    await expect(replace('--yes')).rejects.toThrow();
    expect(await stored()).toEqual(broken);
    await api.sql`alter table notices drop constraint refused`;
    await replace('--yes');
    const owner = { eshopId, of: 'notices' } as const;
    expect(createKeys(second).decryptSecret(await stored(), owner)).toMatch(/^whsec_/);
    const [notice] = await claimNotices(api.sql, 10);
    expect(await readNotice(api.sql, notice?.id ?? '')).toMatchObject({
      kind: 'lostSecrets',
      lostNoticeSecret: true,
    });
    await expect(replace('--yes')).rejects.toThrow('Nothing is lost');
  });

  it('a secret that no key opens is reported, and the database keeps the previous key', async () => {
    await started(second, [first]);
    const [lost = 0] = secrets.keys();
    await api.sql`update webhooks set secret = ${randomBytes(90)} where id = ${lost}`;
    await expect(rotate(second, [first])).rejects.toThrow(
      new RegExp(
        `^The secrets of 4 webhooks were resealed, but none of the keys opens those of webhook ${lost}:`,
      ),
    );
    await expect(started(second)).rejects.toThrow(/^SECRET_KEY is not the one/);
  });

  it('an unreadable secret that is the previous one, or of a deleted webhook, does not block the rotation', async () => {
    const keys = await started(second, [first]);
    const [lost = 0, deleted = 0] = secrets.keys();
    await api.sql`update webhooks set secret = ${randomBytes(90)} where id in (${lost}, ${deleted})`;
    const { data } = await api.shop('PUT', `/v21/webhooks/${lost}/regenerate-secret`);
    await api.shop('DELETE', `/v21/webhooks/${deleted}`);
    const row = await webhookRow(api.sql, lost);
    expect(row?.previousSecret).not.toBeNull();
    expect(
      signingSecrets(keys, {
        eshopId: api.eshop.eshopId,
        webhookId: lost,
        secret: row?.secret,
        previousSecret: row?.previousSecret,
        previousSecretUntil: row?.previousSecretUntil,
        now: new Date(),
      }),
    ).toEqual([data.secret]);
    expect(await rotate(second, [first])).toEqual({ state: 'complete', resealed: 4 });
  });

  it('replaces lost secrets, drops static headers and mails each e-shop once; a second run finds nothing', async () => {
    const replace = (...args: string[]) =>
      runWaybill(['keys', 'replace', '--lost', '--json', ...args], environment(second));
    const [kept = 0, deleted = 0, ...others] = secrets.keys();
    const owner = { eshopId: api.eshop.eshopId, webhookId: kept };
    await api.shop('DELETE', `/v21/webhooks/${deleted}`);
    // Already sealed under the new key, as after an interrupted rotation; but its static headers are lost.
    await api.sql`update webhooks set secret = ${createKeys(second).encryptSecret('theirs', owner)} where id = ${kept}`;
    const ids = [kept, ...others];
    const eshops = [
      { eshopId: owner.eshopId, webhooks: ids.map((id) => ({ id, headers: ['X-Gateway-Key'] })) },
    ];

    await expect(runWaybill(['keys', 'replace', '--yes'], environment(second))).rejects.toThrow(
      /^This is for a lost key: confirm that with --lost\./,
    );
    await expect(replace()).rejects.toThrow('Use --dry-run to see what it would do, and --yes to do it.');
    expect(JSON.parse(await replace('--dry-run'))).toMatchObject({ dryRun: true, eshops });
    await expect(started(second)).rejects.toThrow(/^SECRET_KEY is not the one/);
    expect(JSON.parse(await replace('--yes'))).toMatchObject({ dryRun: false, eshops });

    const keys = await started(second);
    const read = [];
    for (const id of ids) {
      const row = await webhookRow(api.sql, id);
      expect(row).toMatchObject({ headers: null, headerNames: null, previousSecret: null });
      read.push(openedSecret(keys, row, 'secret'));
    }
    expect(read[0]).toBe('theirs');
    expect(new Set(read).size).toBe(ids.length);
    expect([...secrets.values()]).not.toContain(read[1]);
    expect(await claimNotices(api.sql, 10)).toMatchObject([{ eshopId: owner.eshopId, kind: 'lostSecrets' }]);
    await expect(replace('--yes')).rejects.toThrow('Nothing is lost');
    await expect(rotate(second)).rejects.toThrow('There is nothing to rotate');
  });

  it('each command that opens the database refuses another key', async () => {
    for (const command of [
      ['reconcile', '--dry-run'],
      ['eshop', 'list'],
      ['webhooks', 'list'],
    ])
      await expect(runWaybill(command, environment(second))).rejects.toThrow(
        'SECRET_KEY is not the one that this database was created with.',
      );
    await runWaybill(['eshop', 'list'], environment(first));
  });

  it('a token signed under the previous key is valid while that key is configured', async () => {
    const { token } = api.eshop.shop;
    const { tokenKeys } = await started(second, [first]);
    expect(await createTokenVerifier(tokenKeys)(token)).toMatchObject({
      session: { eshopId: api.eshop.eshopId },
    });
    expect(await createTokenVerifier(createKeys(second).tokenKeys)(token)).toBeNull();
  });
});

describe('keys rotate with the key generated in DATA_DIR', () => {
  const settings = () => readSettings({ DATA_DIR: dataDir.path });
  const rotate = () => runWaybill(['keys', 'rotate'], { DATA_DIR: dataDir.path });

  beforeEach(async () => {
    await dataDir.write('secret-key', base64(first));
    await arrange(createKeys(first));
    await masterKeys(api.sql, settings(), dataDir);
    await dataDir.writeInstance({ databaseUrl: api.database.url });
  });

  it('a rotation interrupted before it wrote the new key is repeated', async () => {
    await dataDir.write('secret-key-previous', base64(first));
    expect(await rotate()).toMatch(/^A new master key is in DATA_DIR/);
    expect(await dataDir.read('secret-key')).not.toBe(base64(first));
  });

  it('generates a new key, asks for a restart, then reseals all secrets', async () => {
    expect(await rotate()).toMatch(/^A new master key is in DATA_DIR\. Restart Waybill, then run this again/);
    expect(await dataDir.read('secret-key-previous')).toBe(base64(first));
    const made = await dataDir.read('secret-key');
    expect(made).not.toBe(base64(first));
    // Not restarted yet: the running process could not open secrets sealed under the new key.
    expect(await rotate()).toMatch(/^A new master key is in DATA_DIR/);
    expect(await dataDir.read('secret-key')).toBe(made);
    expect(await readBy(createKeys(first))).toEqual(secrets);

    const restarted = await masterKeys(api.sql, settings(), dataDir);
    expect(await readBy(restarted)).toEqual(secrets);
    expect(await rotate()).toMatch(
      /^The secrets of 5 webhooks were resealed; the old key was no longer needed and has been deleted\. Restart Waybill now: until then, tokens signed with the previous key are still accepted\.$/,
    );
    expect(await dataDir.read('secret-key-previous')).toBeUndefined();
    const again = await masterKeys(api.sql, settings(), dataDir);
    expect(await readBy(again)).toEqual(secrets);
    expect(again.otherCheckValues).toEqual([]);
  });
});
