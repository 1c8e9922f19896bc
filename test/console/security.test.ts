/** Permissions in the console: the rules of the API, and those of forms and cookies. */
import { Hono } from 'hono';
import pino from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { createApp } from '../../src/api/app.ts';
import type { ApiEnv } from '../../src/api/deps.ts';
import { deleteUser, replacePassword } from '../../src/db/accounts/users.ts';
import { hashPassword } from '../../src/secrets/passwords.ts';
import { consoleOf, newPerson, type Person, signIn } from '../support/api/console.ts';
import { seedConsole } from '../support/api/console-data.ts';
import { visitorOf } from '../support/api/visitor.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
let app: ReturnType<typeof consoleOf> = consoleOf(api.deps);
const person = await newPerson(api.sql, api.eshop.eshopId, 'shop');
const seeded = await seedConsole(api);

/** A browser, as far as cookies are concerned. */
function browser(cookies = new Map<string, string>()) {
  const visitor = visitorOf({ fetch: (request) => app.fetch(request) }, undefined, cookies);
  const { ask } = visitor;
  return {
    ...visitor,
    signIn: (as: Person, more: Record<string, string> = {}) => signIn(ask, as, more),
  };
}

/** Every action on the seeded webhooks and deliveries. */
const acts = () => [
  `/console/webhooks/${seeded.failing}/edit`,
  `/console/webhooks/${seeded.failing}/activate`,
  `/console/webhooks/${seeded.failing}/deactivate`,
  `/console/webhooks/${seeded.failing}/delete`,
  `/console/webhooks/${seeded.failing}/rotate`,
  `/console/webhooks/${seeded.failing}/test`,
  `/console/webhooks/${seeded.failing}/recover`,
  `/console/deliveries/${seeded.failed}/redeliver`,
  `/console/deliveries/${seeded.failed}/act`,
];

async function signedIn(as: Person = person) {
  const mine = browser();
  const answer = await mine.signIn(as);
  expect(answer.status).toBe(303);
  return mine;
}

describe('signing in', () => {
  test('a page requires signing in, which then leads to that page', async () => {
    const stranger = browser();
    const answer = await stranger.ask('/console/webhooks?a=b');
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/console/sign-in?next=%2Fconsole%2Fwebhooks%3Fa%3Db');
    expect((await stranger.signIn(person, { next: '/console/webhooks?a=b' })).headers.get('location')).toBe(
      '/console/webhooks?a=b',
    );
  });

  test.each([
    'https://evil.example/',
    '//evil.example',
    '/console/../..//evil.example',
    '/console/%2e%2e/%2E%2E//evil.example',
    '/console/..\\..\\/evil.example',
    '/console/../v21/orders',
    '/consolevil',
    'javascript:alert(1)',
    '/console/\r\nset-cookie: a=b',
    '/console/\t',
  ])('signing in does not lead out of the console: %s', async (next) => {
    expect((await browser().signIn(person, { next })).headers.get('location')).toBe('/console');
  });

  test.each([
    ['/console/orders/../webhooks?a=b', '/console/webhooks?a=b'],
    ['/console/\\evil.example', '/console//evil.example'],
    ['/console/orders/ž', '/console/orders/%C5%BE'],
  ])('signing in leads to a normalized path: %s', async (next, location) => {
    expect((await browser().signIn(person, { next })).headers.get('location')).toBe(location);
  });

  test('a wrong e-shop, name or password gets the same error', async () => {
    const texts = await Promise.all(
      [{ eshop: '999999' }, { username: 'nobody' }, { password: 'wrong' }].map(async (wrong) => {
        const answer = await browser().signIn(person, wrong);
        expect(answer.status).toBe(401);
        expect(answer.set.filter((line) => line.startsWith('waybill_session='))).toEqual([]);
        return /role="alert">([^<]+)</.exec(answer.text)?.[1];
      }),
    );
    expect(new Set(texts)).toEqual(new Set(['The e-shop, user name or password is incorrect.']));
  });

  test('ten failures lock the account, even with the right password', async () => {
    const victim = await newPerson(api.sql, (await api.newEshop()).eshopId, 'shop');
    for (let failure = 0; failure < 10; failure += 1) {
      expect((await browser().signIn(victim, { password: 'wrong' })).status).toBe(401);
    }
    const refused = await browser().signIn(victim);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  describe('limits per address', () => {
    afterEach(() => {
      app = consoleOf(api.deps);
    });
    /** Signs in from one address. */
    function guesser(perAddress: number, address: string) {
      app = consoleOf({ ...api.deps, trustProxy: true, loginLimits: { perAddress } });
      return async (eshop: number, as = { username: 'shop', password: 'wrong' }) => {
        const { ask } = browser();
        const { csrf } = await ask('/console/sign-in');
        const form = { csrf, eshop: String(eshop), username: as.username, password: as.password };
        return (await ask('/console/sign-in', form, { 'x-forwarded-for': address })).status;
      };
    }

    test('an address that has used up its limit learns nothing about which e-shops exist', async () => {
      const statusAt = guesser(2, '192.0.2.77');
      for (const eshop of [900_001, person.eshopId, 900_002]) {
        const statuses = [];
        // A different name each time: this limit is per address.
        for (const username of ['a', 'b', 'c'])
          statuses.push(await statusAt(eshop, { username, password: 'x' }));
        expect([eshop, ...statuses]).toEqual([eshop, 401, 401, 429]);
      }
    });

    test('all e-shop numbers together have ten times the limit, whether they exist or not', async () => {
      const statusAt = guesser(1, '192.0.2.78');
      for (let made = 1; made <= 10; made += 1) expect(await statusAt(900_000 + made)).toBe(401);
      expect(await statusAt(900_011)).toBe(429);
      expect(await statusAt(person.eshopId, person)).toBe(429);
    });

    test('successes and refusals do not count towards the limit of all numbers', async () => {
      const statusAt = guesser(1, '192.0.2.79');
      for (let time = 0; time < 10; time += 1) expect(await statusAt(person.eshopId, person)).toBe(303);
      expect(await statusAt(900_001)).toBe(401);
      for (let time = 0; time < 10; time += 1) expect(await statusAt(900_001)).toBe(429);
      for (let made = 2; made <= 10; made += 1) expect(await statusAt(900_000 + made)).toBe(401);
      expect(await statusAt(900_011)).toBe(429);
    });
  });

  test('ten failures reveal nothing about which e-shops exist', async () => {
    for (let failure = 0; failure < 10; failure += 1) {
      await browser().signIn(person, { eshop: '900001', username: 'prober', password: 'wrong' });
    }
    const statusAt = async (eshop: string) =>
      (await browser().signIn(person, { eshop, username: 'prober', password: 'wrong' })).status;
    expect(await statusAt('900001')).toBe(429);
    expect(await statusAt('900002')).toBe(401);
    expect(await statusAt(String(person.eshopId))).toBe(401);
  });

  test('a disabled e-shop cannot be signed in to', async () => {
    const { eshopId } = await api.newEshop();
    const user = await newPerson(api.sql, eshopId, 'shop');
    await api.sql`update eshops set disabled_at = now() where id = ${eshopId}`;
    expect((await browser().signIn(user)).status).toBe(401);
  });

  test('a value that the database cannot store is a 400, not an internal failure', async () => {
    expect((await browser().signIn(person, { username: 'a\0b' })).status).toBe(400);
    const mine = await signedIn();
    for (const page of ['/console/orders?before=%00', '/console/all/deliveries?entityId=%00'])
      expect((await mine.ask(page)).status, page).toBe(400);
  });

  test('the cookie is unavailable to scripts, other sites and other paths, and Secure over TLS', async () => {
    const [plain = ''] = (await browser().signIn(person)).set.filter((line) =>
      line.startsWith('waybill_session='),
    );
    for (const part of ['HttpOnly', 'SameSite=Lax', 'Path=/console', 'Max-Age=43200'])
      expect(plain).toContain(part);
    expect(plain).not.toContain('Secure');
    const proxied = consoleOf({ ...api.deps, trustProxy: true });
    const signIn = await proxied.fetch(
      new Request('http://localhost/console/sign-in', { headers: { 'x-forwarded-proto': 'https' } }),
    );
    expect(signIn.headers.get('set-cookie')).toMatch(/^__Secure-waybill_sign_in=.*; Secure/);
    const known = consoleOf({ ...api.deps }, { publicUrl: 'https://api.shop.example' });
    const behind = await known.fetch(new Request('http://localhost/console/sign-in'));
    expect(behind.headers.get('set-cookie')).toMatch(/^__Secure-waybill_sign_in=.*; Secure/);
    // Over TLS a cookie that was set without it is ignored.
    const unsafe = await known.fetch(
      new Request('http://localhost/console/sign-in', {
        headers: { cookie: `waybill_sign_in=${'A'.repeat(43)}` },
      }),
    );
    expect(unsafe.headers.get('set-cookie')).not.toContain('A'.repeat(43));
  });

  test('no page contains characters that reverse text or control a terminal', async () => {
    const name = 'tea \u202egnp.exe\u2066 \u009b31m';
    const { status } = await api.shop('POST', '/v21/products', { sku: 'turned', name });
    expect(status).toBe(200);
    const { text } = await (await signedIn()).ask('/console/products/turned');
    expect(text).toContain('tea \ufffdgnp.exe\ufffd \ufffd31m');
    expect(text).not.toMatch(/[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/);
  });

  test('signing in begins a new session, even if one was planted in the browser', async () => {
    const planted = 'A'.repeat(43);
    const victim = browser(new Map([['waybill_session', planted]]));
    await victim.signIn(person);
    expect(victim.cookies.get('waybill_session')).not.toBe(planted);
    const attacker = browser(new Map([['waybill_session', planted]]));
    expect((await attacker.ask('/console')).status).toBe(303);
  });

  test('signing in again ends the previous session', async () => {
    const mine = await signedIn();
    const former = browser(new Map(mine.cookies));
    await mine.signIn(person);
    expect((await former.ask('/console')).status).toBe(303);
    expect((await mine.ask('/console')).status).toBe(200);
  });
});

describe('the end of a session', () => {
  test('signing out ends the session, even for a copy of its cookie', async () => {
    const mine = await signedIn();
    const thief = browser(new Map(mine.cookies));
    const { csrf } = await mine.ask('/console');
    expect((await mine.ask('/console/sign-out', { csrf })).headers.get('location')).toBe('/console/sign-in');
    expect((await thief.ask('/console')).status).toBe(303);
  });

  test.each([
    ['at its expiry', "expires_at = now() - interval '1 second'"],
    ['after an hour without requests', "last_seen_at = now() - interval '61 minutes'"],
  ])('a session ends %s', async (_, set) => {
    const mine = await signedIn();
    expect((await mine.ask('/console')).status).toBe(200);
    await api.sql.unsafe(`update console_sessions set ${set}`);
    expect((await mine.ask('/console')).status).toBe(303);
    const live = await mine.ask('/console', undefined, { 'hx-request': 'true' });
    expect([live.status, live.headers.get('hx-refresh')]).toEqual([401, 'true']);
  });

  test('automatic refreshes do not prolong a session', async () => {
    const mine = await signedIn();
    const seen = async () => (await api.sql`select max(last_seen_at) as at from console_sessions`)[0]?.at;
    await api.sql`update console_sessions set last_seen_at = now() - interval '30 minutes'`;
    const before = await seen();
    await mine.ask('/console', undefined, { 'hx-request': 'true' });
    expect(await seen()).toEqual(before);
    await mine.ask('/console');
    expect(await seen()).not.toEqual(before);
  });

  test('a session ends with a new password or a deleted user, and rests while the e-shop is disabled', async () => {
    const { eshopId } = await api.newEshop();
    const other = await newPerson(api.sql, eshopId, 'shop');
    const first = await signedIn(other);
    await replacePassword(api.sql, eshopId, other.username, await hashPassword('another one'));
    expect((await first.ask('/console')).status).toBe(303);
    const second = await signedIn({ ...other, password: 'another one' });
    await api.sql`update eshops set disabled_at = now() where id = ${eshopId}`;
    expect((await second.ask('/console')).status).toBe(303);
    await api.sql`update eshops set disabled_at = null where id = ${eshopId}`;
    expect((await second.ask('/console')).status).toBe(200);
    await deleteUser(api.sql, eshopId, other.username);
    expect((await second.ask('/console')).status).toBe(303);
  });

  test('the id of a session is not in the database', async () => {
    const mine = await signedIn();
    const id = mine.cookies.get('waybill_session') ?? '';
    const rows = await api.sql`select * from console_sessions`;
    expect(JSON.stringify(rows)).not.toContain(id);
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(id).toString('hex'));
  });
});

describe('forms', () => {
  const forms = () => ['/console/sign-out', '/console/webhooks', ...acts()];

  test('a form without a token, with that of another session, or from another site does nothing', async () => {
    const mine = await signedIn();
    const { csrf } = await mine.ask('/console');
    const { csrf: others } = await (await signedIn()).ask('/console');
    const before = await api.sql`select id, active, secret, url from webhooks order by id`;
    for (const path of forms()) {
      expect((await mine.ask(path, {})).status, path).toBe(403);
      expect((await mine.ask(path, { csrf: others })).status, path).toBe(403);
      expect((await mine.ask(path, { csrf }, { 'sec-fetch-site': 'cross-site' })).status, path).toBe(403);
      expect((await mine.ask(path, { csrf }, { 'content-type': 'text/plain' })).status, path).toBe(403);
    }
    expect(await api.sql`select id, active, secret, url from webhooks order by id`).toEqual(before);
    expect((await mine.ask('/console')).status).toBe(200);
  });

  test('a form of another browser signs nobody in', async () => {
    const { csrf } = await browser().ask('/console/sign-in');
    const victim = browser();
    await victim.ask('/console/sign-in');
    const { eshopId, username, password } = person;
    const answer = await victim.ask('/console/sign-in', { csrf, eshop: String(eshopId), username, password });
    expect(answer.status).toBe(403);
  });

  test('a form takes effect once, even if it is reloaded or sent twice', async () => {
    const mine = await signedIn();
    const counted = async () => (await api.sql`select count(*)::int as n from webhooks`)[0]?.n;
    const form = {
      url: 'https://once.example/',
      webhookType: 'CREATE_RETURN',
      method: 'POST',
      payloadVersion: 'v2',
    };
    const before = await counted();
    const { csrf } = await mine.ask('/console/webhooks/new');
    const [first, second] = await Promise.all(
      [1, 2].map(() => mine.ask('/console/webhooks', { ...form, csrf })),
    );
    expect([first?.status, second?.status].sort()).toEqual([303, 409]);
    expect(await counted()).toBe(before + 1);

    // A secret is shown once, on the page after the form.
    const [made] = await api.sql`select id from webhooks where url = ${form.url}`;
    const at = `/console/webhooks/${made?.id}`;
    for (const ask of [
      async () => (first?.status === 303 ? first : second),
      async () => await mine.ask(`${at}/rotate`, { csrf: (await mine.ask(at)).csrf }),
    ]) {
      const answer = await ask();
      expect(answer?.status).toBe(303);
      expect(answer?.text).not.toContain('whsec_');
      expect(answer?.set.join()).not.toContain('whsec_');
      const to = answer?.headers.get('location') ?? '';
      expect((await mine.ask(to)).text).toContain('whsec_');
      expect((await mine.ask(to)).text).not.toContain('whsec_');
    }

    const tested = await mine.ask(at);
    expect((await mine.ask(`${at}/test`, { csrf: tested.csrf })).status).toBe(200);
    const again = await mine.ask(`${at}/test`, { csrf: tested.csrf });
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('counts only once')]);
  });

  test('a large form is refused', async () => {
    const mine = await signedIn();
    const { csrf } = await mine.ask('/console');
    const answer = await mine.ask('/console/webhooks', { csrf, description: 'x'.repeat(70_000) });
    expect(answer.status).toBe(413);
  });
});

test('pages and actions of another e-shop do not exist', async () => {
  const requested: string[] = [];
  app = consoleOf(api.deps, {
    requestAction: async (action, id) => {
      requested.push(`${action} ${id}`);
      return { accepted: true, message: 'Given up.' };
    },
  });
  const other = await newPerson(api.sql, (await api.newEshop()).eshopId, 'warehouse');
  const theirs = await signedIn(other);
  const { csrf } = await theirs.ask('/console');
  const pages = [
    `/console/webhooks/${seeded.failing}`,
    `/console/webhooks/${seeded.failing}/edit`,
    `/console/webhooks/${seeded.failing}/recover`,
    `/console/webhooks/${seeded.failing}/deactivate`,
    `/console/webhooks/${seeded.failing}/delete`,
    `/console/webhooks/${seeded.failing}/rotate`,
    `/console/deliveries/${seeded.failed}`,
    `/console/deliveries/${seeded.failed}/give-up`,
    `/console/events/${seeded.event}`,
    '/console/orders/10001',
    '/console/products/TEA',
    '/console/receivings/R-1',
  ];
  for (const page of pages) expect((await theirs.ask(page)).status, page).toBe(404);
  for (const act of acts()) {
    const form = {
      csrf,
      action: 'giveUp',
      reason: '',
      url: 'https://shop.example/',
      webhookType: 'CREATE_ORDER',
      method: 'POST',
      payloadVersion: 'v2',
      since: new Date(Date.now() - 3_600_000).toISOString().slice(0, 16),
      until: '',
      failed: 'true',
    };
    expect((await theirs.ask(act, form)).status, act).toBe(404);
  }
  expect(requested).toEqual([]);
  for (const list of ['/console/webhooks', '/console/deliveries', '/console/events', '/console/orders']) {
    const { text } = await theirs.ask(list);
    for (const word of ['10001', 'shop.example', seeded.failed]) expect(text, list).not.toContain(word);
  }
});

test('without a known Temporal server, an action on a delivery is refused with that reason', async () => {
  app = consoleOf(api.deps);
  const mine = await signedIn();
  const path = `/console/deliveries/${seeded.retrying}`;
  const { csrf } = await mine.ask(path);
  const { status, text } = await mine.ask(`${path}/act`, { csrf, action: 'tryNow', reason: '' });
  expect([status, text.includes('no Temporal server is known here')]).toEqual([503, true]);
});

test('an e-shop can try or give up a delivery, but only the warehouse can hold it', async () => {
  const requested: string[] = [];
  app = consoleOf(api.deps, {
    requestAction: async (action, id, { by }) => {
      requested.push(`${action} ${id} ${by}`);
      return { accepted: true, message: 'Attempt 4 of 21 follows at once.' };
    },
  });
  const mine = await signedIn();
  const path = `/console/deliveries/${seeded.retrying}`;
  const page = await mine.ask(path);
  expect(page.text).toContain('Try now');
  for (const [action, status, why] of [
    ['hold', 403, 'Only a user of the warehouse can do this.'],
    ['resume', 403, 'Only a user of the warehouse can do this.'],
    ['terminate', 400, 'There is no such action.'],
  ] as const) {
    const { csrf } = await mine.ask(path);
    const answer = await mine.ask(`${path}/act`, { csrf, action, reason: '' });
    expect([answer.status, answer.text.includes(why)]).toEqual([status, true]);
  }
  expect(requested).toEqual([]);
  // Giving up asks for confirmation first.
  const asked = await mine.ask(`${path}/give-up`);
  expect(asked.text).toContain('Give up on this delivery?');
  await mine.ask(`${path}/act`, { csrf: asked.csrf, action: 'giveUp', reason: 'too late' });
  expect(requested.splice(0)).toEqual([`giveUp ${seeded.retrying} ${person.username} (e-shop)`]);
  const worker = await newPerson(api.sql, api.eshop.eshopId, 'warehouse');
  const theirs = await signedIn(worker);
  const shown = await theirs.ask(path);
  const done = await theirs.ask(`${path}/act`, { csrf: shown.csrf, action: 'tryNow', reason: '' });
  expect(done.text).toContain('Attempt 4 of 21 follows at once.');
  expect(requested).toEqual([`tryNow ${seeded.retrying} ${worker.username}`]);
});

test('every page has a complete content security policy, is never cached, and has no inline scripts', async () => {
  const mine = await signedIn();
  for (const path of [
    '/console',
    '/console/webhooks/new',
    `/console/deliveries/${seeded.failed}`,
    '/console/nothing',
  ]) {
    const { headers, text } = await mine.ask(path);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(text).not.toMatch(/<script(?![^>]* src=)|\son\w+=|\sstyle=|<style|javascript:/i);
    expect(text).not.toMatch(/(src|href|action)="(https?:)?\/\//);
  }
});

test('the log names each page by its pattern, without path, form or cookie', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  app = consoleOf({ ...api.deps, log });
  const mine = await signedIn();
  lines.length = 0;
  const { csrf } = await mine.ask('/console/orders/10001?secret=me');
  await mine.ask('/console/orders/10001', undefined, { 'hx-request': 'true' });
  // Only a GET can be a page's own refresh: a change is always logged.
  await mine.ask('/console/webhooks/999999/test', { csrf }, { 'hx-request': 'true' });
  const logged = lines.map((line) => JSON.parse(line));
  expect(logged).toMatchObject([
    { msg: 'page', method: 'GET', route: '/console/orders/:id', status: 200, eshopId: person.eshopId },
    {
      msg: 'page',
      method: 'POST',
      route: '/console/webhooks/:id/test',
      status: 404,
      eshopId: person.eshopId,
    },
  ]);
  expect(logged).toHaveLength(2);
  for (const word of ['10001', 'secret', csrf, ...mine.cookies.values()])
    expect(lines.join()).not.toContain(word);
});

test('at most three pages of an e-shop are rendered at a time, and others do not wait for them', async () => {
  let made = 0;
  let most = 0;
  const slow = createApp(api.deps);
  const asked = new Hono<ApiEnv>();
  asked.all('*', async (c) => {
    const mine = c.env.signedIn?.session.eshopId === person.eshopId;
    if (mine) {
      made += 1;
      most = Math.max(most, made);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const answer = await slow.fetch(c.req.raw, c.env);
    if (mine) made -= 1;
    return answer;
  });
  app = consoleOf(api.deps, { api: asked });
  const mine = await signedIn();
  const theirs = await signedIn(await newPerson(api.sql, (await api.newEshop()).eshopId, 'shop'));
  most = 0;
  let left = 30;
  const pages = Array.from({ length: left }, async () => {
    const { status } = await mine.ask('/console/webhooks');
    left -= 1;
    return status;
  });
  expect((await theirs.ask('/console/webhooks')).status).toBe(200);
  expect(left).toBeGreaterThan(0);
  expect(new Set(await Promise.all(pages))).toEqual(new Set([200]));
  expect(most).toBe(3);
});
