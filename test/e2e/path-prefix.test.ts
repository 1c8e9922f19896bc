/** Behind a proxy, with and without a path prefix: documentation, console and OpenAPI document use the public URL. */
import { afterAll, expect, it } from 'vitest';
import { installationOfFile } from '../support/lifetimes.ts';
import { type Program, startProgram } from '../support/programs/program.ts';
import { linksOf } from '../support/repository/links.ts';
import { findNginx, runNginx } from '../support/servers/nginx.ts';
import { freePort } from '../support/servers/ports.ts';

const nginx = findNginx();
const ends: (() => Promise<unknown>)[] = [];
const installation = await installationOfFile();
afterAll(async () => {
  for (const end of ends.reverse()) await end().catch(() => {});
});

async function startApi(publicUrl: string): Promise<Program> {
  const program = await startProgram({ ...installation.env, ROLE: 'api', PUBLIC_URL: publicUrl });
  ends.push(() => program.kill());
  return program;
}

/** Signs in as a browser does, and follows the links of every page. */
async function walk(base: string): Promise<void> {
  const { origin, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, '');
  const get = (path: string, cookie = '') =>
    fetch(`${origin}${path}`, { redirect: 'manual', headers: { cookie } });
  const checked = new Set<string>();
  const follow = async (page: string, path: string, cookie = '') => {
    const links = linksOf(page, `${base}${path}`)
      .filter((link) => link.origin === origin)
      .map((link) => `${link.pathname}${link.search}`);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) {
      expect(link.startsWith(`${prefix}/`)).toBe(true);
      if (checked.has(link) || checked.size > 60) continue;
      checked.add(link);
      const answer = await get(link, cookie);
      await answer.arrayBuffer();
      const isServed = answer.status < 400 || answer.status === 405 || answer.status === 404;
      expect([link, isServed ? 'served' : answer.status]).toEqual([link, 'served']);
      expect([link, answer.status]).not.toEqual([link, link.includes('/assets/') ? 404 : 0]);
    }
  };

  for (const path of ['/docs', '/docs/guides/quickstart']) {
    const to = await get(`${prefix}${path}`);
    expect([to.status, new URL(to.headers.get('location') ?? '', to.url).href]).toEqual([
      308,
      `${base.replace(/\/$/, '')}${path}/`,
    ]);
    const page = await (await get(`${prefix}${path}/`)).text();
    expect(page).not.toContain('127.0.0.1:8080');
    if (path !== '/docs') expect(page).toContain(base);
    await follow(page, `${path}/`);
  }
  expect(await (await get(`${prefix}/openapi.json`)).json()).toMatchObject({ servers: [{ url: base }] });

  const away = await get(`${prefix}/console`);
  const signIn = away.headers.get('location') ?? '';
  expect(signIn.startsWith(`${prefix}/console/sign-in?`)).toBe(true);
  const form = await get(signIn);
  const [before = ''] = form.headers.getSetCookie();
  expect(before).toContain(`Path=${prefix}/console`);
  const page = await form.text();
  expect(page).not.toContain('demonstration e-shop');
  const fields = Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  );
  const { eshopId, username, password } = installation.credentials;
  const signedIn = await fetch(`${origin}${prefix}/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: before.split(';')[0] ?? '', 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ ...fields, eshop: String(eshopId), username, password }),
  });
  expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, `${prefix}/console`]);
  const session = signedIn.headers.getSetCookie().find((each) => !each.includes('Max-Age=0')) ?? '';
  expect(session).toContain(`Path=${prefix}/console`);
  const overview = await get(`${prefix}/console`, session.split(';')[0]);
  expect(overview.status).toBe(200);
  await follow(await overview.text(), '/console', session.split(';')[0]);
}

it('every link works without a proxy, at a path that is passed on', async () => {
  const port = String(await freePort());
  const program = await startProgram({
    ...installation.env,
    ROLE: 'api',
    PORT: port,
    PUBLIC_URL: `http://127.0.0.1:${port}/ship/bills/`,
  });
  ends.push(() => program.kill());
  await walk(`http://127.0.0.1:${port}/ship/bills`);
  // Probes reach the process directly.
  expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
});

it.runIf(nginx !== undefined).each([
  ['at the root', '', (api: string) => `location / { proxy_pass ${api}; }`],
  ['at a path that it passes on', '/ship', (api: string) => `location /ship { proxy_pass ${api}; }`],
  ['at a path that it takes away', '/ship', (api: string) => `location /ship/ { proxy_pass ${api}/; }`],
])('every link works behind nginx %s', async (_, prefix, lines) => {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}${prefix}`;
  const api = await startApi(base);
  ends.push(await runNginx(nginx ?? '', port, lines(api.url)));
  await walk(base);
});
