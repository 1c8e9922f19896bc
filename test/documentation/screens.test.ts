/** Documentation in a browser: accessible, as wide as the screen, searchable by keyboard, readable without script. */
import { afterAll, describe, expect, test } from 'vitest';
import { serveConsole } from '../support/api/console.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { looks, picture, startBrowser, violations } from '../support/programs/browser.ts';
import { PATIENCE_MS } from '../support/until.ts';

const api = await apiOfFile();
const server = await serveConsole(api.deps);
const browser = await startBrowser();
afterAll(async () => {
  await browser.close();
  await server.close();
});

const screens = {
  start: '/docs/',
  guide: '/docs/guides/quickstart/',
  table: '/docs/guides/retries/',
  handbook: '/docs/handbook/',
  chapter: '/docs/handbook/install/',
  decision: '/docs/decisions/0120-documentation-made-here/',
  rules: '/docs/rules/how-to-verify-a-signature',
  events: '/docs/events',
  event: '/docs/events/UPDATE_ORDER',
  operation: '/docs/reference/post-v21-orders',
  import: '/docs/reference/post-v21-warehouse-events-import',
  schema: '/docs/schemas/Order',
  results: '/docs/search/?q=retry',
};

/** Names in tables and statuses on more lines than they have parts; code whose first line a button covers. */
const BROKEN_OR_COVERED = `[
  ...[...document.querySelectorAll('main :is(td, th, .status) code')]
    .filter((code) => code.getClientRects().length > code.querySelectorAll('wbr').length + code.textContent.split(/[ -]/).length)
    .map((code) => 'broken: ' + code.textContent),
  ...[...document.querySelectorAll('main .status code')]
    .filter((code) => code.getBoundingClientRect().height > 2 * parseFloat(getComputedStyle(code).fontSize))
    .map((code) => 'broken: ' + code.textContent),
  ...[...document.querySelectorAll('main .copy')]
    .filter((copy) => copy.getBoundingClientRect().bottom > copy.parentElement.querySelector('code').getBoundingClientRect().top + 1 && copy.offsetParent !== null)
    .map((copy) => 'covered: ' + copy.parentElement.textContent.slice(0, 40)),
]`;

describe.each(looks)('at $name', ({ name, width, colorScheme }) => {
  test('every kind of page is accessible, fits, and keeps its content security policy', async () => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const complaints: string[] = [];
    page.on('pageerror', ({ message }) => complaints.push(`${page.url()}: ${message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(`${page.url()}: ${message.text()}`);
    });
    for (const [screen, path] of Object.entries(screens)) {
      await page.goto(`${server.url}${path}`);
      if (screen === 'results') await page.locator('main .cards a').first().waitFor();
      for (const { id, nodes } of await violations(page)) complaints.push(`${screen}: ${id} ${nodes}`);
      const wider: unknown = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      if (Number(wider) > 0) complaints.push(`${screen} is ${wider} px wider than the screen`);
      await picture(page, `docs-${screen}-${name}`);
    }
    await context.close();
    expect(complaints).toEqual([]);
  });
});

test('a small screen breaks no short names, and no button covers code', async () => {
  const context = await browser.newContext({ viewport: { width: 390, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: unknown[] = [];
  for (const path of [
    '/docs/guides/quickstart',
    '/docs/guides/retries',
    '/docs/events',
    '/docs/reference/delete-v21-webhooks-id',
  ]) {
    await page.goto(`${server.url}${path}`);
    complaints.push(await page.evaluate(BROKEN_OR_COVERED));
  }
  await context.close();
  expect(complaints.flat()).toEqual([]);
});

test('a slash focuses the search, arrows select a result, and Enter opens it', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`${server.url}/docs/schemas/Order`);
  await page.keyboard.press('/');
  await page.keyboard.type('redeliver');
  await page.getByRole('option').first().waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('ArrowDown');
  const first = page.getByRole('option', { selected: true });
  expect(await first.textContent()).toContain('Redeliver');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Redeliver' }).waitFor();
  await context.close();
});

test('Enter without a selection leads to all results', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`${server.url}/docs/guides/quickstart/`);
  await page.getByLabel('Search the documentation').fill('verify signature');
  await page.keyboard.press('Enter');
  await page.getByText('Found for “verify signature”').waitFor();
  await page.getByRole('main').getByRole('link', { name: 'How to verify a signature' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'How to verify a signature' }).waitFor();
  await context.close();
});

test('a search query is shown as text', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const hostile = '"><img src=x onerror=alert(1)>';
  await page.goto(`${server.url}/docs/search/?q=${encodeURIComponent(hostile)}`);
  await page.getByText(`Nothing was found for “${hostile}”.`).waitFor();
  expect(await page.locator('main img').count()).toBe(0);
  await context.close();
});

test('the chosen language is kept on other pages, and code can be copied', async () => {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`${server.url}/docs/reference/get-v21-orders`);
  await page.getByLabel('Python', { exact: true }).check({ force: true });
  await page.goto(`${server.url}/docs/reference/get-v21-products`);
  expect(await page.getByLabel('Python', { exact: true }).isChecked()).toBe(true);
  await page.getByRole('button', { name: 'Copy' }).first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain('requests.get(');
  await context.close();
});

test('languages, contents and search work without scripts', async () => {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    viewport: { width: 390, height: 800 },
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`${server.url}/docs/reference/get-v21-orders`);
  await page.getByLabel('PHP', { exact: true }).check({ force: true });
  expect(await page.getByText('curl_init').isVisible()).toBe(true);
  expect(await page.getByText('requests.get').isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Contents' }).click();
  await page.getByRole('link', { name: 'Read an order', exact: false }).first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByLabel('Search the documentation').fill('signature');
  await page.keyboard.press('Enter');
  await page.getByText('Searching needs JavaScript').waitFor();
  await page.getByRole('main').getByRole('link', { name: 'reference' }).click();
  await page.waitForURL(/\/docs\/reference\/$/);
  await context.close();
});
