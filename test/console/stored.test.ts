/** Others' text (names, notes, identifiers, responses) is shown as text in the console, in a real browser. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HttpServer } from '../../src/http/http-server.ts';
import { createTestApi, type TestApi } from '../support/api/api.ts';
import { newPerson, type Person, serveConsole } from '../support/api/console.ts';
import { seedConsole } from '../support/api/console-data.ts';
import { minimalOrder } from '../support/api/orders.ts';
import { signIn, startBrowser } from '../support/programs/browser.ts';

/** Short enough for an identifier; together they hold everything that could run. */
const ID = '"><img src=x onerror=window.stolen=1>';
const EVIL = `${ID}<script>window.stolen=2</script><i hx-get="/console/orders" hx-trigger="load">'\${1}</i>`;

let api: TestApi;
let server: HttpServer;
let browser: Browser;
let person: Person;
let screens: readonly string[];

beforeAll(async () => {
  api = await createTestApi();
  const { sql, shop } = api;
  const { failing, inactive, failed, retrying } = await seedConsole(api);
  const made = [
    await shop('POST', '/v21/products', { sku: ID, name: EVIL, note: EVIL, description: EVIL }),
    await shop('POST', '/v21/orders', { ...minimalOrder(ID), note: EVIL, recipientName: EVIL }),
    await shop('POST', '/v21/receivings', {
      eshopReceivingId: ID,
      supplier: EVIL,
      products: [{ sku: ID, quantity: 1 }],
    }),
  ];
  expect(made.map(({ status }) => status)).toEqual([200, 200, 200]);
  await sql`update eshops set name = ${EVIL} where id = ${api.eshop.eshopId}`;
  const { href } = new URL(`https://shop.example/?'=${EVIL}`);
  await sql`update webhooks set description = ${EVIL}, url = ${href} where eshop_id = ${api.eshop.eshopId}`;
  await sql`update attempts set error = ${EVIL}, response_excerpt = ${EVIL}`;
  await sql`update failures set last_error = ${EVIL}`;
  await sql`update deactivations set last_error = ${EVIL}`;
  await sql`
    update deliveries set last_error = ${EVIL}, operator_stop = case when id = ${retrying} then 'hold' end,
      operator_actions = ${sql.json([{ id: '1', action: 'hold', by: EVIL, reason: EVIL, at: new Date().toISOString() }])}`;
  const requestAction = async () => ({ accepted: true, message: EVIL });
  server = await serveConsole(api.deps, { requestAction });
  person = await newPerson(sql, api.eshop.eshopId, 'warehouse');
  const id = encodeURIComponent(ID);
  screens = [
    '',
    '/webhooks',
    `/webhooks/${failing}`,
    `/webhooks/${failing}/edit`,
    `/webhooks/${failing}/delete`,
    `/webhooks/${inactive}`,
    '/deliveries',
    `/deliveries?entityId=${id}`,
    `/deliveries/${failed}`,
    `/deliveries/${retrying}`,
    `/deliveries/${retrying}/give-up`,
    '/events',
    `/events?entityId=${id}`,
    '/orders',
    `/orders/${id}`,
    `/orders?before=${id}`,
    '/products',
    `/products/${id}`,
    '/receivings',
    `/receivings/${id}`,
    `/events?since=${id}`,
    `/returns/${id}`,
  ];
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await api?.drop();
});

/** Parts of the text that became part of the page. */
async function came(page: Page): Promise<unknown> {
  return await page.evaluate(
    `[window.stolen, document.querySelectorAll('img[src="x"], script:not([src]), i[hx-get], [onerror]').length]`,
  );
}

test('foreign text stays text when a page is loaded and when it is updated', async () => {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript({
    content: `addEventListener('DOMContentLoaded', () => document.querySelector('[hx-get]')?.classList.add('before'))`,
  });
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('the server responded with a status of 4'))
      complaints.push(`${page.url()}: ${message.text()}`);
  });
  page.on('dialog', (dialog) => complaints.push(dialog.message()));
  await signIn(page, server.url, person);
  let shown = 0;
  for (const screen of screens) {
    const response = await page.goto(`${server.url}/console${screen}`);
    expect(response?.status(), screen).toBeLessThan(500);
    expect(await came(page), screen).toEqual([undefined, 0]);
    if ((await page.getByRole('main').textContent())?.includes('onerror=window.stolen=1>')) shown += 1;
    const live = page.locator('[hx-get]').first();
    if ((await live.count()) === 0) continue;
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    // The live part was replaced once: the mark on the old one is gone.
    await page.locator('.before').waitFor({ state: 'detached' });
    expect(await came(page), `${screen}, exchanged`).toEqual([undefined, 0]);
  }
  // The text was shown, as text.
  expect(shown).toBeGreaterThan(10);
  expect(complaints).toEqual([]);
  await context.close();
});

test('foreign text stays text in the response to a click', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signIn(page, server.url, person);
  const held = screens.find((screen) => screen.endsWith('/give-up')) ?? '';
  await page.goto(`${server.url}/console${held}`);
  await page.getByRole('button', { name: 'Give up' }).click();
  await page.getByText('window.stolen=2').first().waitFor();
  expect(await came(page)).toEqual([undefined, 0]);
  await context.close();
});

test('the content security policy blocks everything foreign that a page would run or load', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signIn(page, server.url, person);
  const refused: unknown = await page.evaluate(`new Promise((resolve) => {
    const refused = [];
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => refused.push(effectiveDirective));
    const put = (html) => document.body.insertAdjacentHTML('beforeend', html);
    put('<img src="https://evil.example/x.png"><iframe src="/console"></iframe><object data="/console"></object>');
    put('<b onclick="window.stolen=3" id="run"></b><p style="color: red"></p>');
    document.getElementById('run').click();
    const script = document.createElement('script');
    script.textContent = 'window.stolen = 4';
    document.head.append(script);
    fetch('https://evil.example/').catch(() => {});
    try { new EventSource('https://evil.example/'); } catch {}
    const form = document.createElement('form');
    form.action = 'https://evil.example/';
    document.body.append(form);
    form.submit();
    const end = Date.now() + 60000;
    const look = () => {
      if (new Set(refused).size < 8 && Date.now() < end) return setTimeout(look, 50);
      // Nothing else may follow.
      setTimeout(() => resolve([...new Set(refused)].sort()), 500);
    };
    look();
  })`);
  expect(refused).toEqual([
    'connect-src',
    'form-action',
    'frame-src',
    'img-src',
    'object-src',
    'script-src-attr',
    'script-src-elem',
    'style-src-attr',
  ]);
  expect(await page.evaluate('window.stolen')).toBeUndefined();
  await context.close();
});
