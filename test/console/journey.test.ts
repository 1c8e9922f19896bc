/** The main tasks of an e-shop's developer and of an operator, in a real browser with real deliveries. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createEshopWithUsers } from '../../src/app/accounts.ts';
import { createExaminer } from '../../src/attempt/examiner.ts';
import { createTestSender } from '../../src/attempt/test-sender.ts';
import { readSettings } from '../../src/config/config.ts';
import { createSender } from '../../src/delivery/sender.ts';
import { createActionRequester } from '../../src/temporal/action-requester.ts';
import { newPerson, serveConsole } from '../support/api/console.ts';
import { apiOfFile, receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { picture, signIn, startBrowser, violations } from '../support/programs/browser.ts';

let page: Page;

// Long enough for a busy machine: held and waiting deliveries must still be open.
const stack = await stackOfFile('console', { policy: { windowMs: 24 * 3_600_000 } });
// Its database is not used: the API gets the stack's.
const api = await apiOfFile();
const { sql, keys, policy } = stack;
const sender = createSender({ timeoutMs: 2_000, allowCidrs: ['127.0.0.0/8', '::1/128'], version: 'test' });
const sendTest = createTestSender({ sender, keys });
const examine = createExaminer({ sender, keys, timeoutMs: 2_000 });
const requester = createActionRequester(
  { settings: readSettings({}), retryPolicy: policy },
  sql,
  inject('temporalAddress'),
);
const server = await serveConsole(
  { ...api.deps, sql, healthSql: sql, keys, policy, sendTest, examine },
  { requestAction: requester.requestAction },
);
const worker = await newPerson(sql, stack.eshopId, 'warehouse');
const person = await newPerson(sql, stack.eshopId, 'shop');
const browser = await startBrowser();
const receiver = await receiverOfFile();
afterAll(async () => {
  await browser.close();
  await server.close();
  await sender.close();
  await requester.close();
});
beforeEach(async () => {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
  page = await context.newPage();
  await signIn(page, server.url, person);
});
afterEach(() => page?.context().close());

test('a developer creates and tests a webhook, fixes its receiver, redelivers and recovers', async () => {
  receiver.respond({
    status: 500,
    body: '<script>window.stolen = true</script><b>no such table: orders</b>',
  });
  await page.getByRole('link', { name: 'Create a webhook' }).click();
  await page.getByLabel('URL').fill(`${receiver.url}/hook`);
  await page.getByLabel('Event type').selectOption('CREATE_ORDER');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByText('Copy it now: it is never shown again.').waitFor();
  expect(await page.getByRole('region', { name: 'The new secret' }).textContent()).toMatch(
    /^whsec_[\w+/]{43}=$/,
  );

  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('heading', { name: 'Response' }).waitFor();
  expect(await page.getByRole('region', { name: 'Response status' }).textContent()).toBe('HTTP 500');
  expect(await page.getByRole('region', { name: 'Response body' }).textContent()).toContain(
    '<b>no such table: orders</b>',
  );
  expect(await page.getByRole('region', { name: 'Request headers' }).textContent()).toContain(
    'x-service-signature: t=',
  );
  await picture(page, 'webhook-tested-1200-light');
  expect(await violations(page)).toEqual([]);

  await page.getByRole('link', { name: 'Examine' }).click();
  await page.getByRole('button', { name: 'Examine it' }).click();
  await page.getByText('7 faults. Fix them, and examine the receiver again.').waitFor();
  const valid = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'valid request' }) });
  expect(await valid.textContent()).toMatch(/^fail.*500.*check the secret of this webhook/);
  await picture(page, 'webhook-examined-1200-light');
  expect(await violations(page)).toEqual([]);

  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await page.getByText('No deliveries').waitFor();
  const failed = await stack.fireOne('10001<img src=x onerror="window.stolen=true">');
  // The page is live: it needs no reload.
  await page.getByRole('link', { name: 'CREATE_ORDER 10001' }).waitFor();
  await stack.untilState(failed, 'failed');
  await page.getByRole('listitem').getByText('failed', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'CREATE_ORDER 10001' }).click();
  await page.getByText('Attempt 21: HTTP 500').waitFor();
  expect(await page.getByText('All retries failed').count()).toBe(1);
  await page.getByText('Attempt 1: HTTP 500').click();
  expect(
    await page.getByRole('region', { name: 'Response to attempt 1', exact: true }).textContent(),
  ).toContain('<script>');
  expect(await page.evaluate('window.stolen')).toBeUndefined();

  // Its failure has deactivated the webhook: that is to be fixed first.
  await page.getByRole('button', { name: 'Activate webhook' }).waitFor();
  expect(await page.getByRole('button', { name: 'Redeliver' }).count()).toBe(0);
  expect(await stack.fire('10002', { eshopOrderId: '10002' })).toEqual([]);
  await page.getByRole('link', { name: 'Events', exact: true }).click();
  await page.getByLabel('Show').selectOption('not delivered to any webhook');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('link', { name: 'CREATE_ORDER 10001' }).waitFor();
  await page.getByText('was deactivated', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'CREATE_ORDER 10002' }).click();
  await page.getByText(/was inactive: it had been deactivated/).waitFor();
  receiver.respond({ status: 200 });
  await page.getByRole('link', { name: /^delivery …/ }).click();
  await page.getByRole('button', { name: 'Activate webhook' }).click();
  await page.getByText('The webhook is active').waitFor();
  await page.getByRole('link', { name: 'CREATE_ORDER 10001' }).first().click();
  await page.getByRole('button', { name: 'Redeliver' }).click();
  await page.getByText('Redelivered. This is the new delivery.').waitFor();
  await page.getByText('Attempt 1: HTTP 200').waitFor();
  await page.getByText('delivered', { exact: true }).first().waitFor();
  expect(receiver.requests.at(-1)?.headers['x-service-delivery']).toBe(
    page.url().match(/deliveries\/([\w-]+)/)?.[1],
  );
  expect(await page.evaluate('window.stolen')).toBeUndefined();

  // The events in between are recovered.
  await page.goto(`${server.url}/console/deliveries/${failed}`);
  await page.getByRole('link', { name: 'Recover', exact: true }).click();
  await page.getByLabel('Missed').check();
  await page.getByRole('button', { name: 'Count events' }).click();
  await page.getByText('1 event would be recovered').waitFor();
  await page.getByRole('button', { name: 'Recover', exact: true }).click();
  await page.getByText('1 of 1 delivered').waitFor();
  expect(receiver.requests.at(-1)?.text).toContain('10002');
});

test('a live page says when its e-shop is taken away, and drops its contents', async () => {
  const other = await createEshopWithUsers(sql, { name: 'Other shop', email: 'other@example.test' });
  const [user] = await sql<{ id: number }[]>`
    select id from users where eshop_id = ${worker.eshopId} and username = ${worker.username}`;
  const { id } = user ?? { id: 0 };
  await sql`insert into user_eshops (user_id, eshop_id) values (${id}, ${other.eshopId})`;
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(page, server.url, worker);
  await page.goto(`${server.url}/console/webhooks?eshop=${other.eshopId}`);
  // The e-shop chosen last is remembered: the page has no number in its address.
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await page.getByText('No deliveries').waitFor();
  await sql`delete from user_eshops where user_id = ${id}`;
  await page.getByText('There is no such e-shop.').waitFor();
});

test('a live page replaces what has changed, and nothing else', async () => {
  await page.goto(`${server.url}/console/webhooks`);
  const address = /console\/webhooks/;
  // The page as it is now, with other tokens in each response. By itself it would change: it says how long ago.
  let text: string | undefined;
  let responses = 0;
  await page.route(address, async (route) => {
    const response = await route.fetch();
    responses += 1;
    text ??= await response.text();
    const body = text.replaceAll(/name="csrf" value="[^"]*"/g, `name="csrf" value="${responses}"`);
    await route.fulfill({ response, body });
  });
  const mark = () => page.evaluate("document.querySelector('[hx-get]').classList.add('before')");
  const replaced = () => page.locator('.before').waitFor({ state: 'detached' });
  await mark();
  // The first response is what later ones are compared with.
  await replaced();
  await mark();
  await page.waitForResponse(address);
  await page.waitForResponse(address);
  expect(await page.locator('.before').count()).toBe(1);
  await page.unroute(address);
  await stack.createWebhook(receiver.url, { description: 'Made elsewhere' });
  await replaced();
  await page.getByText('Made elsewhere').waitFor();
  await page.route(address, (route) => route.abort());
  await page.getByText(/^Not updated since \d/).waitFor();
  await page.unroute(address);
  await page.getByText(/^Not updated since \d/).waitFor({ state: 'detached' });
  // Somebody who has got to a link by the keyboard stays there.
  const refreshes = () =>
    page.evaluate(`(() => {
      let refreshes = 0;
      document.body.addEventListener('live', () => { refreshes += 1; }, { once: true });
      document.dispatchEvent(new Event('visibilitychange'));
      return refreshes;
    })()`);
  await page.getByRole('link', { name: 'Made elsewhere' }).focus();
  expect(await refreshes()).toBe(0);
  await page.evaluate('document.activeElement.blur()');
  expect(await refreshes()).toBe(1);
});

test('a form whose submission is stopped disables no other one', async () => {
  const { id } = await stack.createWebhook(receiver.url);
  await page.goto(`${server.url}/console/webhooks/${id}`);
  receiver.respond({ hang: 'headers' });
  // As Esc does.
  await page.evaluate(
    `document.querySelector('form[action$="/test"] button').click();
    new Promise((done) => setTimeout(done, 200)).then(() => stop())`,
  );
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
});
