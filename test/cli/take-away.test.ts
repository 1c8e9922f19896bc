/** Access that an operator revokes with `waybill` is gone from the API at once, whatever the token says. */
import { beforeEach, describe, expect, it } from 'vitest';
import { signToken } from '../../src/api/token.ts';
import type { TestEshop } from '../support/api/api.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { runWaybill } from '../support/programs/waybill-command.ts';

let eshop: TestEshop;
const api = await apiOfFile();
beforeEach(async () => {
  eshop = await api.newEshop();
});

const waybill = (...args: string[]) => runWaybill(args, { DATABASE_URL: api.database.url });
const waybillJson = async (...args: string[]) => JSON.parse(await waybill(...args, '--json'));
const shop = () => ['--eshop', String(eshop.eshopId)];
const named = (username: string) => [...shop(), '--username', username];

const reads = async (user = eshop.shop) => (await user.request('GET', '/v21/webhooks')).status;
const writes = async (user = eshop.shop) =>
  (
    await user.request('POST', '/v21/webhooks', {
      url: 'https://shop.example/',
      webhookType: 'CREATE_ORDER',
      active: true,
      method: 'POST',
    })
  ).status;
async function logsIn(password: string, username = eshop.shop.username, apiKey = eshop.apiKey) {
  const answer = await api.anonymous(
    'POST',
    '/v21/users/login',
    { username, password },
    { 'x-api-key': apiKey },
  );
  return answer.status;
}

describe('a user', () => {
  it('a deleted user’s token neither reads nor writes from the next request on; others are unaffected', async () => {
    expect([await reads(), await writes()]).toEqual([200, 200]);
    const { username, password } = eshop.shop;
    expect(await waybillJson('user', 'delete', ...named(username))).toEqual({
      eshopId: eshop.eshopId,
      username,
      deleted: true,
    });
    expect([await reads(), await writes()]).toEqual([401, 401]);
    expect(await logsIn(password)).toBe(401);
    expect(await reads(eshop.warehouse)).toBe(200);
  });

  it('a new password ends earlier tokens and the old password', async () => {
    const { eshopId, apiKey } = eshop;
    const { username, password: old } = eshop.shop;
    const [row] = await api.sql`select id from users where eshop_id = ${eshopId} and username = ${username}`;
    const session = { eshopId, userId: row?.id, username, role: 'shop' } as const;
    const signed = (passwordVersion: number, now: Date) =>
      signToken(api.keys.tokenKey, { session, passwordVersion }, now);
    const status = async (authorization: string) =>
      (await api.anonymous('GET', '/v21/webhooks', undefined, { 'x-api-key': apiKey, authorization })).status;
    const before = await signed(1, new Date());
    expect(await status(before)).toBe(200);
    const { password } = await waybillJson('user', 'password', ...named(username));
    // Signed in the second of the change, and after it by a login that had verified the old password.
    const late = [await signed(1, new Date()), await signed(1, new Date(Date.now() + 1_000))];
    expect(await Promise.all([before, ...late].map(status))).toEqual([401, 401, 401]);
    expect([await logsIn(old), await logsIn(password)]).toEqual([401, 200]);
    const { data } = await api.anonymous(
      'POST',
      '/v21/users/login',
      { username, password },
      { 'x-api-key': apiKey },
    );
    expect(await status(data.token)).toBe(200);
  });

  it('is listed without confidential data', async () => {
    expect(await waybillJson('user', 'list', ...shop())).toEqual(
      (['shop', 'warehouse'] as const).map((role) => ({
        eshopId: eshop.eshopId,
        userId: expect.any(Number),
        username: eshop[role].username,
        role,
        createdAt: expect.any(String),
      })),
    );
    const [titles, ...lines] = (await waybill('user', 'list', ...shop())).split('\n');
    expect(titles).toMatch(/^id +user +role +since$/);
    expect(lines).toEqual([
      expect.stringMatching(/^ *\d+ {2}shop-\d+ +shop +20\d\d-\d\d-\d\d \d\d:\d\dZ$/),
      expect.stringMatching(/^ *\d+ {2}warehouse-\d+ +warehouse +20\d\d-\d\d-\d\d \d\d:\d\dZ$/),
    ]);
  });
});

describe('an e-shop', () => {
  it('a disabled e-shop’s tokens and logins are refused until it is enabled again', async () => {
    const other = await api.newEshop();
    expect(await waybill('eshop', 'disable', ...shop())).toBe(`E-shop ${eshop.eshopId} is disabled.`);
    expect([await reads(), await writes(), await reads(eshop.warehouse)]).toEqual([401, 401, 401]);
    expect(await logsIn(eshop.shop.password)).toBe(401);
    expect(await reads(other.shop)).toBe(200);
    expect(await waybillJson('eshop', 'list')).toContainEqual(
      expect.objectContaining({ eshopId: eshop.eshopId, disabledAt: expect.any(String) }),
    );
    expect(await waybill('eshop', 'list')).toMatch(new RegExp(`^ *${eshop.eshopId} .* disabled$`, 'm'));
    expect(await waybillJson('eshop', 'enable', ...shop())).toEqual({
      eshopId: eshop.eshopId,
      disabled: false,
    });
    expect([await reads(), await logsIn(eshop.shop.password)]).toEqual([200, 200]);
  });

  it('a new API key replaces the previous one at once', async () => {
    const { apiKey, eshopId } = await waybillJson('eshop', 'rotate-key', ...shop());
    expect(eshopId).toBe(eshop.eshopId);
    expect(apiKey).not.toBe(eshop.apiKey);
    const { username, password, token } = eshop.shop;
    expect([await reads(), await logsIn(password)]).toEqual([401, 401]);
    const headers = { 'x-api-key': apiKey, authorization: token };
    expect((await api.anonymous('GET', '/v21/webhooks', undefined, headers)).status).toBe(200);
    expect(await logsIn(password, username, apiKey)).toBe(200);
    expect(await waybill('eshop', 'rotate-key', ...shop())).toMatch(/^x-api-key {2}wb_[\w-]{43}$/m);
  });
});

it.each([
  [['user', 'list', '--eshop', '999999'], 'E-shop 999999 does not exist.'],
  [['user', 'delete', '--eshop', '1', '--username', 'nobody'], 'E-shop 1 has no user "nobody"; '],
  [['user', 'password', '--eshop', '1', '--username', 'nobody'], 'E-shop 1 has no user "nobody"; '],
  [['eshop', 'disable', '--eshop', '999999'], 'E-shop 999999 does not exist.'],
  [['eshop', 'enable', '--eshop', '999999'], 'E-shop 999999 does not exist.'],
  [['eshop', 'rotate-key', '--eshop', '999999'], 'E-shop 999999 does not exist.'],
  [['eshop', 'rotate-key', '--eshop', 'mine'], '--eshop must be the number of an e-shop; '],
])('%j is refused in one sentence', async (args, message) => {
  await expect(waybill(...args)).rejects.toThrow(message);
});
