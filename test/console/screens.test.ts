/** Every screen, narrow and wide, light and dark: axe finds nothing, nothing overflows it, and no script fails. */
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventTypeNames } from '../../src/domain/event-types.ts';
import { newPerson, serveConsole } from '../support/api/console.ts';
import { seedConsole } from '../support/api/console-data.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { looks, picture, signIn, startBrowser, violations } from '../support/programs/browser.ts';

const api = await apiOfFile();
const requestAction = async () => ({ accepted: true, message: 'Attempt 4 of 21 follows at once.' });
const server = await serveConsole(api.deps, { requestAction });
const person = await newPerson(api.sql, api.eshop.eshopId, 'warehouse');
const seeded = await seedConsole(api);
const [webhookType, ...additionalTypes] = eventTypeNames;
const everything = await api.shop('POST', '/v21/webhooks', {
  url: 'https://shop.example/hooks/everything',
  active: true,
  method: 'POST',
  webhookType,
  additionalTypes,
});
const screens: Readonly<Record<string, string>> = {
  overview: '/console',
  webhooks: '/console/webhooks',
  'webhook-new': '/console/webhooks/new',
  'webhook-failing': `/console/webhooks/${seeded.failing}`,
  'webhook-inactive': `/console/webhooks/${seeded.inactive}`,
  'webhook-everything': `/console/webhooks/${everything.data.id}`,
  'webhook-everything-edit': `/console/webhooks/${everything.data.id}/edit`,
  'webhook-examine': `/console/webhooks/${seeded.failing}/examine`,
  'orders-by-status': '/console/orders?status=preReceived',
  'orders-none': '/console/orders?status=lost',
  'movements-by-sku': '/console/stock-movements?sku=TEA-GREEN-100',
  'webhook-edit': `/console/webhooks/${seeded.failing}/edit`,
  'webhook-deactivate': `/console/webhooks/${seeded.failing}/deactivate`,
  'webhook-delete': `/console/webhooks/${seeded.failing}/delete`,
  'webhook-rotate': `/console/webhooks/${seeded.failing}/rotate`,
  recover: `/console/webhooks/${seeded.inactive}/recover`,
  deliveries: '/console/deliveries',
  'deliveries-none': '/console/deliveries?entityId=nothing',
  'delivery-retrying': `/console/deliveries/${seeded.retrying}`,
  'delivery-failed': `/console/deliveries/${seeded.failed}`,
  'delivery-give-up': `/console/deliveries/${seeded.retrying}/give-up`,
  events: '/console/events',
  'events-absent': '/console/events?entityId=10999',
  event: `/console/events/${seeded.event}`,
  orders: '/console/orders',
  order: '/console/orders/10001',
  products: '/console/products',
  product: '/console/products/TEA',
  receivings: '/console/receivings',
  receiving: '/console/receivings/R-1',
  returns: '/console/returns',
  'stock-movements': '/console/stock-movements',
  'not-found': '/console/webhooks/999999',
};
const browser = await startBrowser();
afterAll(async () => {
  await browser.close();
  await server.close();
});

describe.each(looks)('at $name', ({ name, width, colorScheme }) => {
  let context: BrowserContext;
  beforeAll(async () => {
    context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  });
  afterAll(() => context?.close());

  test('every screen is accessible, fits, and keeps its content security policy', async () => {
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('404'))
        complaints.push(`${page.url()}: ${message.text()}`);
    });
    await page.goto(`${server.url}/console`);
    const found: Record<string, unknown> = { 'sign-in': await violations(page) };
    await picture(page, `sign-in-${name}`);
    await signIn(page, server.url, person);
    for (const [screen, path] of Object.entries(screens)) {
      await page.goto(`${server.url}${path}`);
      found[screen] = await violations(page);
      const wider: unknown = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      if (Number(wider) > 0) complaints.push(`${screen} is ${wider} px wider than the screen`);
      await picture(page, `${screen}-${name}`);
    }
    expect(complaints).toEqual([]);
    const nothing = Object.fromEntries(Object.keys(found).map((screen) => [screen, []]));
    expect(found).toEqual(nothing);
  });
});

test('every page can be read without scripts, and forms work', async () => {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    viewport: { width: 1000, height: 800 },
  });
  const page = await context.newPage();
  await signIn(page, server.url, person);
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await page.getByLabel('State').selectOption('failed');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.waitForURL(/state=failed/);
  expect(await page.getByRole('listitem').filter({ hasText: 'attempts' }).count()).toBeGreaterThan(0);
  await page.getByRole('listitem').filter({ hasText: 'attempts' }).getByRole('link').first().click();
  await page.getByRole('heading', { name: 'What happened' }).waitFor();
  for (const [screen, path] of Object.entries(screens)) {
    await page.goto(`${server.url}${path}`);
    expect(await page.getByRole('heading', { level: 1 }).count(), screen).toBe(1);
  }
  // Irreversible actions ask for confirmation on a separate page.
  await page.goto(`${server.url}${screens['webhook-failing']}`);
  await page.getByRole('link', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: /^Delete .+\?$/ }).waitFor();
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.getByRole('link', { name: 'Regenerate secret' }).click();
  await page.getByRole('button', { name: 'Regenerate secret' }).click();
  await page.getByText('Copy it now: it is never shown again.').waitFor();
  await page.getByText('The previous secret is also used for signing until').waitFor();
  await page.getByRole('link', { name: 'Deactivate' }).click();
  await page.getByRole('button', { name: 'Deactivate webhook' }).click();
  await page.getByText('The webhook is inactive: open deliveries are held.').waitFor();
  await page.getByRole('link', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete webhook' }).click();
  await page.getByText('The webhook was deleted.').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await context.close();
});

test('a keyboard reaches the content first, and focus is always visible', async () => {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const page = await context.newPage();
  await signIn(page, server.url, person);
  await page.keyboard.press('Tab');
  const first = page.locator(':focus');
  expect(await first.textContent()).toBe('Skip to content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('main');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none');
  await context.close();
});
