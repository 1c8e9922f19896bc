/** A newcomer's view: `waybill demo --receive` leaves no page of the console empty, narrow or wide, light or dark. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, expect, test } from 'vitest';
import { looks, picture, signIn, startBrowser } from '../support/browser.ts';
import { login } from '../support/client.ts';
import { installationOfFile, programOfFile } from '../support/lifetimes.ts';
import { triedWaybill } from '../support/waybill-command.ts';

const Summary = v.object({ scenes: v.array(v.object({ scene: v.string(), webhookId: v.number() })) });
type Scenes = v.InferOutput<typeof Summary>['scenes'];

let scenes: Scenes;

const installation = await installationOfFile();
const program = await programOfFile(installation.env);
const shop = await login(program.url, installation.credentials);
const browser = await startBrowser();
afterAll(() => browser.close());

const idOf = (name: string) => scenes.find(({ scene }) => scene === name)?.webhookId ?? Number.NaN;
const firstOf = async (path: string, field: string) => {
  const { data } = await shop.request('GET', path);
  return encodeURIComponent(String(data[0][field]));
};

/** Every page with its own content. */
async function pages(): Promise<Record<string, string>> {
  return {
    overview: '',
    webhooks: '/webhooks',
    ...Object.fromEntries(
      scenes.map(({ scene, webhookId }) => [`webhook-${scene}`, `/webhooks/${webhookId}`]),
    ),
    deliveries: '/deliveries',
    'deliveries-failed': '/deliveries?state=failed',
    'deliveries-held': '/deliveries?state=held',
    'delivery-retried': `/deliveries/${await firstOf(`/webhooks/${idOf('down')}/deliveries`, 'id')}`,
    'delivery-gone': `/deliveries/${await firstOf(`/webhooks/${idOf('gone')}/deliveries`, 'id')}`,
    events: '/events',
    orders: '/orders',
    order: `/orders/${await firstOf('/orders', 'eshopOrderId')}`,
    products: '/products',
    receivings: '/receivings',
    returns: '/returns',
    'stock-movements': '/stock-movements',
  };
}

test('a fresh console says what to do first; after the demonstration no page is empty', async () => {
  const first = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const page = await first.newPage();
  await signIn(page, program.url, installation.credentials);
  await page.getByRole('link', { name: 'quickstart' }).waitFor();
  await picture(page, 'demo-fresh');
  await first.close();

  const file = join(installation.env.DATA_DIR, 'eshop.json');
  await writeFile(file, JSON.stringify(installation.credentials));
  const { code, printed, error } = await triedWaybill(
    [
      'demo',
      '--receive',
      '--json',
      '--url',
      program.url,
      '--credentials',
      file,
      '--orders',
      '5',
      '--rate',
      '200',
    ],
    {},
  );
  expect({ code, error }).toEqual({ code: 0, error: undefined });
  scenes = v.parse(v.pipe(v.string(), v.parseJson(), Summary), printed).scenes;

  const all = await pages();
  for (const { name, width, colorScheme } of looks) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    await signIn(page, program.url, installation.credentials);
    for (const [screen, path] of Object.entries(all)) {
      const response = await page.goto(`${program.url}/console${path}`);
      expect(response?.status(), `${screen} at ${name}`).toBe(200);
      expect(await page.locator('.empty').allTextContents(), `${screen} at ${name}`).toEqual([]);
      const wider: unknown = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      expect(wider, `${screen} at ${name}`).toBe(0);
      await picture(page, `demo-${screen}-${name}`);
    }
    await context.close();
  }
});
