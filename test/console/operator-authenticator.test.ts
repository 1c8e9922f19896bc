/** The operators' console: one link, one browser, this machine. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../src/api/app.ts';
import { createSignAgain } from '../../src/attempt/sign-again.ts';
import { createConsole } from '../../src/console/console.tsx';
import { operatorAuthenticator } from '../../src/console/operator/authenticator.tsx';
import { consoleOf, newPerson } from '../support/api/console.ts';
import { visitorOf } from '../support/api/visitor.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const ORIGIN = 'http://127.0.0.1:4711';
let site: ReturnType<typeof createConsole>;
let path: string;
const controlled: string[] = [];

const api = await apiOfFile();
beforeEach(() => {
  const opened = operatorAuthenticator(api.deps, 'anna');
  path = opened.path;
  controlled.length = 0;
  site = createConsole(
    {
      ...api.deps,
      api: createApp(api.deps),
      signAgain: createSignAgain(api.deps.keys),
      requestAction: null,
      temporal: null,
      publicUrl: null,
      operator: {
        installation: async () => ({
          problems: ['No worker is polling the task queue.'],
          rows: [['Queue', 'empty']],
          counts: [],
        }),
        recoveries: async () => [],
        control: async (id, action, comment) => {
          controlled.push(`${action} ${id} ${comment}`);
          return { done: true, message: 'The recovery is paused.' };
        },
      },
    },
    opened.authenticator,
  );
});

async function entered(headers: Record<string, string> = {}) {
  const mine = visitorOf(site, ORIGIN);
  const answer = await mine.ask(path, undefined, headers);
  expect(answer.status).toBe(200);
  return { ...mine, answer };
}

test('the link is exchanged for a cookie that scripts and other sites cannot use', async () => {
  const { answer, cookies, ask } = await entered();
  const [cookie = ''] = answer.set;
  for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/console']) expect(cookie).toContain(part);
  expect(cookie).not.toContain(new URL(`${ORIGIN}${path}`).searchParams.get('token'));
  expect([...cookies.keys()]).toEqual([`waybill_operator_${new URL(ORIGIN).port}`]);
  expect(answer.headers.get('refresh')).toBe('0; url=/console/all');
  const page = await ask('/console/all');
  expect(page.status).toBe(200);
  expect(page.text).toContain('No worker is polling the task queue.');
  expect(page.text).toContain('anna · operator');
});

test("the link to the operators' console works once", async () => {
  await entered();
  const late = visitorOf(site, ORIGIN);
  expect((await late.ask(path)).status).toBe(403);
  expect(late.cookies.size).toBe(0);
  expect((await late.ask('/console/all')).status).toBe(403);
});

test('a HEAD request does not use up the link', async () => {
  const answer = await site.fetch(
    new Request(`${ORIGIN}${path}`, { method: 'HEAD', headers: { host: new URL(ORIGIN).host } }),
  );
  expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []]);
  await entered();
});

test('no other link opens anything, or uses up the printed one', async () => {
  const guess = visitorOf(site, ORIGIN);
  const wrong = `${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`;
  for (const other of [wrong, '/console/enter', '/console/enter?token=']) {
    expect([other, (await guess.ask(other)).status]).toEqual([other, 403]);
  }
  expect(guess.cookies.size).toBe(0);
  await entered();
});

test("without its cookie, the operators' console shows and does nothing", async () => {
  const stranger = visitorOf(site, ORIGIN);
  for (const page of ['/console', '/console/all', '/console/all/recoveries', '/console/webhooks']) {
    expect([page, (await stranger.ask(page)).status]).toEqual([page, 403]);
  }
  for (const cookie of [`waybill_operator_${new URL(ORIGIN).port}`, 'waybill_session']) {
    const forged = visitorOf(site, ORIGIN, new Map([[cookie, 'A'.repeat(43)]]));
    expect((await forged.ask('/console/all')).status).toBe(403);
  }
  expect((await stranger.ask('/console/sign-in')).status).toBe(403);
  const live = await stranger.ask('/console/all', undefined, { 'hx-request': 'true' });
  expect([live.status, live.headers.get('hx-refresh')]).toEqual([401, 'true']);
});

describe('host names', () => {
  test.each([
    'evil.example',
    'evil.example:4711',
    '127.0.0.1.evil.example:4711',
    'localhost.evil.example',
    '',
  ])('a foreign name made to lead to this machine is refused: %s', async (host) => {
    const { cookies } = await entered();
    const rebound = visitorOf(site, ORIGIN, cookies);
    for (const page of ['/console/all', path, '/console/assets/console.css']) {
      const answer = await rebound.ask(page, undefined, { host });
      expect([page, answer.status]).toEqual([page, 403]);
    }
  });

  test.each(['127.0.0.1:9000', 'localhost:9000', 'LOCALHOST', '[::1]:9000'])(
    'a local name is accepted, even with the port of a tunnel: %s',
    async (host) => {
      const { ask } = await entered({ host });
      expect((await ask('/console/all', undefined, { host })).status).toBe(200);
    },
  );
});

describe('other sites', () => {
  test.each(['cross-site', 'same-site'])(
    'a request from another site reads and changes nothing: %s',
    async (site) => {
      const { ask } = await entered();
      const headers = { 'sec-fetch-site': site };
      expect((await ask('/console/all', undefined, headers)).status).toBe(403);
      const { csrf } = await ask('/console/all/recoveries');
      const asked = 'pause 01994ab0-0000-7000-8000-000000000001';
      expect((await ask('/console/all/recoveries', { csrf, asked }, headers)).status).toBe(403);
      expect(controlled).toEqual([]);
    },
  );

  test('a form is accepted only with the token of its session', async () => {
    const { ask } = await entered();
    const asked = 'pause 01994ab0-0000-7000-8000-000000000001';
    for (const csrf of ['', 'A'.repeat(43), `${'A'.repeat(43)}.1`]) {
      expect((await ask('/console/all/recoveries', { csrf, asked })).status).toBe(403);
    }
    expect(controlled).toEqual([]);
    const { csrf } = await ask('/console/all/recoveries');
    const done = await ask('/console/all/recoveries', { csrf, asked, reason: 'stock-taking' });
    expect(done.status).toBe(200);
    expect(controlled).toEqual(['pause 01994ab0-0000-7000-8000-000000000001 stock-taking']);
  });

  test('a reason of more than 500 characters is refused, and the form can be sent again', async () => {
    const { ask } = await entered();
    const id = '01994ab0-0000-7000-8000-000000000001';
    const { csrf } = await ask('/console/all/recoveries');
    for (const [action, form] of [
      ['/all/recoveries', { asked: `pause ${id}` }],
      ['/all/deliveries/act', { action: 'hold' }],
      [`/deliveries/${id}/act`, { action: 'hold' }],
    ] as const) {
      const answer = await ask(`/console${action}`, { csrf, ...form, reason: 'x'.repeat(501) });
      expect([action, answer.status]).toEqual([action, 400]);
      expect(answer.text).toContain('The reason must have at most 500 characters.');
    }
    expect(controlled).toEqual([]);
    const shorter = { csrf, asked: `pause ${id}`, reason: 'x'.repeat(500) };
    expect((await ask('/console/all/recoveries', shorter)).status).toBe(200);
  });

  test('other sites can neither read nor frame a page, and its own loads nothing from elsewhere', async () => {
    const { ask } = await entered();
    const { headers } = await ask('/console/all', undefined, { origin: 'http://evil.example' });
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('x-frame-options')).toBe('DENY');
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
    ]) {
      expect(policy).toContain(rule);
    }
  });
});

test('signing out ends the session, and an invented cookie opens none', async () => {
  const { ask, cookies } = await entered();
  const thief = visitorOf(site, ORIGIN, new Map(cookies));
  const forged = visitorOf(
    site,
    ORIGIN,
    new Map([[`waybill_operator_${new URL(ORIGIN).port}`, 'A'.repeat(43)]]),
  );
  expect((await forged.ask('/console/all')).status).toBe(403);
  const { csrf } = await ask('/console/all');
  expect((await ask('/console/sign-out', { csrf })).text).toContain('Ctrl-C');
  expect((await thief.ask('/console/all')).status).toBe(403);
  expect((await ask('/console/all')).status).toBe(403);
});

test('the pages of operators exist in no other console', async () => {
  const { eshopId } = api.eshop;
  const worker = await newPerson(api.sql, eshopId, 'warehouse');
  const { eshopId: second } = await api.newEshop();
  await api.sql`
    insert into user_eshops (user_id, eshop_id)
    select id, ${second} from users where eshop_id = ${eshopId} and username = ${worker.username}`;
  const mine = visitorOf(consoleOf(api.deps));
  const { csrf } = await mine.ask('/console/sign-in');
  await mine.ask('/console/sign-in', {
    csrf,
    eshop: String(eshopId),
    username: worker.username,
    password: worker.password,
  });
  expect((await mine.ask('/console/all')).status).toBe(200);
  for (const page of ['/console/all/recoveries', '/console/enter']) {
    expect([page, (await mine.ask(page)).status]).toEqual([page, 404]);
  }
});
