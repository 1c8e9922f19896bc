/** A real browser: an installed Chromium or Chrome, else a package's, so that nothing must be installed by hand. */
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import * as v from 'valibot';
import type { Person } from '../api/console.ts';
import { nightly } from '../runner/nightly.ts';
import { PATIENCE_MS } from '../until.ts';
import { unpackedChromium } from './chromium.ts';

const INSTALLED = [
  process.env.CHROMIUM_PATH ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

async function installed(): Promise<string | undefined> {
  for (const path of INSTALLED.filter((each) => each !== '')) {
    const there = await access(path).then(
      () => true,
      () => false,
    );
    if (there) return path;
  }
  return undefined;
}

/** Containers seldom grant the rights that the sandbox needs, and their `/dev/shm` is small. */
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];

/** Sizes and color schemes in which screens are examined: nightly all, else only the first, a narrow one. */
export const looks = (
  [
    { name: '390-dark', width: 390, colorScheme: 'dark' },
    { name: '1400-dark', width: 1400, colorScheme: 'dark' },
    { name: '390-light', width: 390, colorScheme: 'light' },
    { name: '1400-light', width: 1400, colorScheme: 'light' },
  ] as const
).slice(0, nightly ? undefined : 1);

/** Starts it. Close it in `afterAll`. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = await installed();
  // A busy machine is slow.
  const options = { args: ARGS, timeout: PATIENCE_MS };
  if (executablePath !== undefined) return await chromium.launch({ ...options, executablePath });
  const { program, libraries } = await unpackedChromium();
  try {
    return await chromium.launch({ ...options, executablePath: program });
  } catch {
    // A bare machine lacks libraries; the package brings them.
    const env = { ...process.env, LD_LIBRARY_PATH: libraries };
    return await chromium.launch({ ...options, executablePath: program, env });
  }
}

/** Signs in through the form. */
export async function signIn(page: Page, url: string, person: Person): Promise<void> {
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`${url}/console`);
  await page.getByLabel('E-shop number').fill(String(person.eshopId));
  await page.getByLabel('User name').fill(person.username);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
}

const Violations = v.array(v.object({ id: v.string(), help: v.string(), nodes: v.array(v.string()) }));

/** The violations that axe finds in a page, by all its rules except the experimental ones. */
export async function violations(page: Page): Promise<v.InferOutput<typeof Violations>> {
  await page.evaluate(axe.source);
  const found: unknown = await page.evaluate(
    'axe.run().then((run) => run.violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html }) => html) })))',
  );
  return v.parse(Violations, found);
}

/** Saves a screenshot if `CONSOLE_SHOTS` names a folder. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.CONSOLE_SHOTS;
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
