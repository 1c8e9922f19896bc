/** An operator at work, in a real browser with real deliveries: the command needs only Postgres and Temporal. */
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { serveOperatorConsole } from '../../src/cli/operator-console.ts';
import { createEshop } from '../../src/db/accounts/eshops.ts';
import { makeAhead } from '../../src/retention/retain.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { looks, picture, startBrowser, violations } from '../support/programs/browser.ts';
import { PATIENCE_MS } from '../support/until.ts';

const UI = 'http://127.0.0.1:8233';
const stop = new AbortController();
let served: Promise<unknown>;

// Long enough for a busy machine: held and waiting deliveries must still be open.
const stack = await stackOfFile('operator', { policy: { windowMs: 24 * 3_600_000 } });
await makeAhead(stack.sql);
await createEshop(stack.sql, { name: 'Another shop', email: 'another@example.test' });
const receiver = await receiverOfFile();
const env = {
  ...stack.env,
  TEMPORAL_UI_URL: UI,
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  DELIVERY_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
};
const link = await new Promise<string>((resolve, reject) => {
  const print = (line: string) => {
    const [url] = /http:\S+/.exec(line) ?? [];
    if (url !== undefined) resolve(url);
  };
  served = serveOperatorConsole(env, { port: 0, by: 'anna' }, print, stop.signal);
  served.catch(reject);
});
const origin: string = new URL(link).origin;
const browser = await startBrowser();
const context: BrowserContext = await browser.newContext({ viewport: { width: 1400, height: 900 } });
const page: Page = await context.newPage();
page.setDefaultTimeout(PATIENCE_MS);
await page.goto(link);
await page.getByRole('heading', { name: 'All e-shops' }).waitFor();
afterAll(async () => {
  await browser.close();
  stop.abort(new Error('The test is over.'));
  await served?.catch(() => {});
});

test('the form for a reason is hidden while no recovery is under way', async () => {
  await page.getByRole('link', { name: 'Recoveries', exact: true }).click();
  await page.getByText('No recoveries yet').waitFor();
  expect(await page.locator('form[hidden]').isVisible()).toBe(false);
  await page.goto(`${origin}/console/all`);
});

test('an operator finds an incident, fixes it, recovers the lost events and sees them arrive', async () => {
  receiver.respond({ status: 503, body: '<script>window.stolen = true</script>' });
  await stack.createWebhook(`${receiver.url}/receivings`, { type: 'CREATE_RECEIVING' });
  const name = `${new URL(receiver.url).host}/receivings`;
  const [lost = ''] = await stack.fire('R-1', { eshopReceivingId: 'R-1' }, 'CREATE_RECEIVING');
  await stack.untilState(lost, 'failed');
  // The page is live: it needs no reload.
  await page.getByRole('link', { name }).waitFor();
  expect(await page.getByRole('definition').filter({ hasText: 'in the task queue' }).count()).toBe(1);
  await picture(page, 'operator-incident-1400-light');
  expect(await violations(page)).toEqual([]);

  await page.getByRole('link', { name }).click();
  await page.getByRole('link', { name: 'View the delivery' }).click();
  expect(await page.getByRole('link', { name: 'Workflow of this delivery' }).getAttribute('href')).toContain(
    `${UI}/namespaces/default/workflows/`,
  );
  await page.goBack();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('region', { name: 'Response status' }).getByText('HTTP 503').waitFor();
  receiver.respond({ status: 200 });
  await page.getByRole('button', { name: 'Activate', exact: true }).click();
  await page.getByText('The webhook is active').waitFor();
  await page.getByRole('link', { name: 'Recover', exact: true }).click();
  await page.getByRole('button', { name: 'Count events' }).click();
  await page.getByText('1 event would be recovered').waitFor();
  await page.getByRole('button', { name: 'Recover', exact: true }).click();
  await page.getByText('1 of 1 delivered').waitFor();
  expect(receiver.requests.filter(({ path }) => path === '/receivings').at(-1)?.text).toContain('R-1');
  await page.getByRole('link', { name: 'Recoveries' }).click();
  await page.getByText('completed', { exact: true }).waitFor();
  await picture(page, 'operator-recoveries-1400-light');
  await page.getByRole('link', { name: 'All e-shops' }).click();
  await page.getByText('None: no active webhook is failing.').waitFor();
  expect(await page.evaluate('window.stolen')).toBeUndefined();
});

test('failing deliveries are held, resumed and tried at once, with author and reason recorded', async () => {
  // Far away: whatever follows is due to the actions.
  receiver.respond({ status: 503, headers: { 'retry-after': '3600' } });
  await stack.createWebhook(`${receiver.url}/returns`, { type: 'CREATE_RETURN' });
  const [first = ''] = await stack.fire('RT-1', { eshopReturnId: 'RT-1' }, 'CREATE_RETURN');
  const [second = ''] = await stack.fire('RT-2', { eshopReturnId: 'RT-2' }, 'CREATE_RETURN');
  for (const delivery of [first, second]) await stack.untilState(delivery, 'retrying');

  await page.goto(`${origin}/console/all/deliveries`);
  await page.getByRole('link', { name: 'Failing now' }).click();
  const all = page.getByLabel('Select all that are listed');
  await all.check();
  expect(await page.getByLabel('Select CREATE_RETURN RT-1').isChecked()).toBe(true);
  await page.getByLabel('Select CREATE_RETURN RT-2').uncheck();
  expect(await all.isChecked()).toBe(false);
  await page.getByLabel('Select CREATE_RETURN RT-2').check();
  expect(await all.isChecked()).toBe(true);
  await page.getByLabel('Reason').fill('stock-taking');
  await page.getByLabel('Reason').press('Enter');
  await picture(page, 'operator-chosen-1400-light');
  await page.getByRole('button', { name: 'Hold' }).click();
  await page.getByText('Done: 2 deliveries.').waitFor();
  expect(await violations(page)).toEqual([]);

  await page.getByRole('link', { name: 'Held', exact: true }).click();
  await page.getByLabel('Select CREATE_RETURN RT-1').check();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('Done: 1 delivery.').waitFor();
  await page.getByRole('link', { name: 'Failing now' }).click();
  await page.getByLabel('Select CREATE_RETURN RT-1').check();
  receiver.respond({ status: 200 });
  await page.getByRole('button', { name: 'Try now' }).click();
  await page.getByText('Done: 1 delivery.').waitFor();
  await stack.untilState(first, 'delivered');
  await page.goto(`${origin}/console/deliveries/${second}`);
  await page.getByText('Held by anna: stock-taking').waitFor();
});

test('a recovery is paused with a reason that its e-shop reads, resumed and canceled', async () => {
  receiver.respond({ status: 200 });
  const { id } = await stack.createWebhook(`${receiver.url}/products`, { type: 'CREATE_PRODUCT' });
  const name = `${new URL(receiver.url).host}/products`;
  // Under way, with no workflow until there is an action.
  const begin = () => stack.sql`
    insert into recoveries (id, eshop_id, webhook_id, since, until, include, found, signaled_version, check_at)
    values (gen_random_uuid(), ${stack.eshopId}, ${id}, now() - interval '1 hour', now(), '{failed}', 3, 1, now() + interval '1 day')`;
  await begin();
  await page.goto(`${origin}/console/all/recoveries`);
  await page.getByLabel('Reason for pausing').fill('the receiver is slow');
  await page.getByRole('button', { name: `Pause the recovery of ${name}` }).click();
  await page.getByText(`The recovery of ${name} is paused.`).waitFor();
  await page
    .getByText('Paused by the operator of the warehouse: the receiver is slow', { exact: true })
    .waitFor();
  await page.getByRole('button', { name: `Resume the recovery of ${name}` }).click();
  // There are no events to recover: it may have ended already.
  await page.getByText(new RegExp(`The recovery of ${name} is (running|completed).`)).waitFor();
  await expect
    .poll(async () => (await stack.sql`select state from recoveries where webhook_id = ${id}`)[0]?.state, {
      timeout: PATIENCE_MS,
    })
    .toBe('completed');

  await begin();
  await page.goto(`${origin}/console/all/recoveries`);
  await page.getByRole('button', { name: `Pause the recovery of ${name}` }).click();
  await page.getByRole('button', { name: `Cancel the recovery of ${name}` }).click();
  await page.getByText(`The recovery of ${name} is canceled.`).waitFor();
});

describe.each(looks)('at $name', ({ name, width, colorScheme }) => {
  test('every screen is accessible, fits, and keeps its content security policy', async () => {
    const complaints: string[] = [];
    const look = await context.newPage();
    look.on('pageerror', (error) => complaints.push(`${look.url()}: ${error.message}`));
    look.on('console', (message) => {
      if (message.type() === 'error') complaints.push(`${look.url()}: ${message.text()}`);
    });
    await look.setViewportSize({ width, height: 900 });
    await look.emulateMedia({ colorScheme });
    const found: Record<string, unknown> = {};
    for (const [screen, path] of [
      ['all', '/all'],
      ['deliveries', '/all/deliveries'],
      ['held', '/all/deliveries?state=held'],
      ['webhooks', '/all/webhooks'],
      ['recoveries', '/all/recoveries'],
      ['eshop', ''],
    ] as const) {
      await look.goto(`${origin}/console${path}`);
      found[screen] = await violations(look);
      const wider: unknown = await look.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      if (Number(wider) > 0) complaints.push(`${screen} is ${wider} px wider than the screen`);
      await picture(look, `operator-${screen}-${name}`);
    }
    await look.close();
    expect(complaints).toEqual([]);
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((screen) => [screen, []])));
  });
});

test('the console works without scripts, and asks before irreversible actions', async () => {
  receiver.respond({ status: 503, headers: { 'retry-after': '3600' } });
  const [third = ''] = await stack.fire('RT-3', { eshopReturnId: 'RT-3' }, 'CREATE_RETURN');
  await stack.untilState(third, 'retrying');
  const plain = await browser.newContext({
    javaScriptEnabled: false,
    storageState: await context.storageState(),
  });
  const read = await plain.newPage();
  read.setDefaultTimeout(PATIENCE_MS);
  await read.goto(`${origin}/console/all/deliveries?state=held`);
  expect(await read.getByLabel('Select all').count()).toBe(0);
  await read.getByLabel('Select CREATE_RETURN RT-2').check();
  await read.getByRole('button', { name: 'Resume' }).click();
  await read.getByText('Done: 1 delivery.').waitFor();
  await read.goto(`${origin}/console/all/deliveries?state=retrying`);
  await read.getByLabel('Select CREATE_RETURN RT-3').check();
  await read.getByRole('button', { name: 'Give up' }).click();
  await read.getByRole('heading', { name: 'Give up on 1 delivery?' }).waitFor();
  await read.getByRole('button', { name: 'Give up' }).click();
  await read.getByText('Done: 1 delivery.').waitFor();
  await stack.untilState(third, 'canceled');
  await read.goto(`${origin}/console`);
  await read.getByLabel('Current e-shop').selectOption({ index: 1 });
  await read.getByRole('button', { name: 'Show', exact: true }).click();
  await read.waitForURL(/eshop=/);
  await read.getByRole('option', { name: 'Another shop', selected: true }).waitFor({ state: 'attached' });
  await plain.close();
});
