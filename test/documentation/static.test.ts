/** The documentation as static files below some path of a plain web server: no dead link; search and pages work. */
import { afterAll, expect, test } from 'vitest';
import { looks, picture, startBrowser } from '../support/programs/browser.ts';
import { idsOf, linksOf } from '../support/repository/links.ts';
import { servePlainly } from '../support/servers/file-server.ts';
import { PATIENCE_MS } from '../support/until.ts';

const site = await servePlainly('dist/docs', '/some/where');
const browser = await startBrowser();
afterAll(async () => {
  await browser.close();
  await site.close();
});

/** The links of a text in Markdown, code aside. */
const linksOfMarkdown = (text: string, address: string) =>
  [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(
    ([, link = '']) => new URL(link, address),
  );

test('every link from the first page and from llms.txt leads somewhere', async () => {
  const waiting = [site.url, `${site.url}llms.txt`];
  const seen = new Map<string, ReadonlySet<string> | null>();
  const wanted: [from: string, address: string, id: string][] = [];
  for (const address of waiting) {
    if (seen.has(address)) continue;
    const answer = await fetch(address);
    const text = await answer.text();
    const isPage = answer.headers.get('content-type') === 'text/html';
    seen.set(address, answer.ok ? new Set(isPage ? idsOf(text) : []) : null);
    const found = isPage
      ? linksOf(text, answer.url)
      : /\.(?:md|txt)$/.test(address)
        ? linksOfMarkdown(text, address)
        : [];
    for (const { origin, pathname, search, hash } of found) {
      if (!site.url.startsWith(`${origin}/`)) continue;
      const target = `${origin}${pathname}${search}`;
      waiting.push(target);
      if (isPage) wanted.push([address, target, decodeURIComponent(hash.slice(1))]);
    }
  }
  const dead = [...seen].filter(([, ids]) => ids === null).map(([address]) => address);
  const missing = wanted.filter(([, target, id]) => id !== '' && seen.get(target)?.has(id) !== true);
  expect({ dead, missing }).toEqual({ dead: [], missing: [] });
  expect([...seen.keys()].filter((address) => !address.startsWith(site.url))).toEqual([]);
  expect(seen.size).toBeGreaterThan(300);
});

test.each(looks)(
  'a search at $name leads to a page of the handbook without errors',
  async ({ name, width, colorScheme }) => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const complaints: string[] = [];
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('response', (answer) => {
      if (answer.status() >= 400) complaints.push(`${answer.status()} ${answer.url()}`);
    });
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(site.url);
    await picture(page, `static-start-${name}`);
    await page.keyboard.press('/');
    await page.keyboard.type('back up and restore');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Back up and restore' }).waitFor();
    await picture(page, `static-handbook-${name}`);
    expect(page.url().startsWith(`${site.url}handbook/backup/`)).toBe(true);
    await context.close();
    expect(complaints).toEqual([]);
  },
);
