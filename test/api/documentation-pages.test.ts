/** The pages of the documentation: everything has one, and none is large. static.test.ts follows every link. */
import { promises, readdirSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { gunzipSync, gzipSync } from 'node:zlib';
import MiniSearch from 'minisearch';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { OpenApiDocument } from '../../src/api/openapi/document.ts';
import { eventTypeNames } from '../../src/domain/event-types.ts';
import { anchor } from '../../src/domain/text.ts';
import { createTestApi } from '../support/api/api.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { idsOf, linksOf } from '../support/repository/links.ts';

const BUILT = 'dist/docs';
const ORIGIN = 'http://waybill.test';

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll("'", '&#39;');

/** All pages in the contents, by path. */
const pages = new Map<string, string>();

const textOf = async (path: string) => (await api.app.request(path)).text();

const api = await apiOfFile();
const document: OpenApiDocument = JSON.parse(await textOf('/openapi.json'));
// The contents for e-shops, and those for operators.
for (const first of ['/docs/', '/docs/handbook/']) {
  const page = await textOf(first);
  const contents = page.slice(page.indexOf('<nav id="contents"'), page.indexOf('</nav>'));
  for (const { pathname } of linksOf(contents, `${ORIGIN}${first}`))
    pages.set(pathname, await textOf(pathname));
}

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

test('every operation has a page with its description, request and responses', () => {
  for (const { path, method, operation } of operations()) {
    const page = pages.get(`/docs/reference/${anchor(`${method} ${path}`)}/`) ?? '';
    expect(page, `${method} ${path}`).toContain(`<h1>${operation.summary}</h1>`);
    expect(page, path).toContain(`<code>${path}</code>`);
    for (const language of ['curl', 'Node.js', 'Python', 'PHP']) {
      expect(page, `${method} ${path}: ${language}`).toContain(`value="${language}"`);
    }
    for (const id of ['request', 'response', 'fields', 'errors']) expect(page).toContain(`<h2 id="${id}">`);
    if (operation.requestBody !== undefined) expect(page).toContain('<h2 id="body">');
    for (const { name } of operation.parameters ?? []) expect(page).toContain(`<code>${name}</code>`);
    expect(page).toContain('<code>401</code>');
  }
});

test('a page names the type of `data` and the ignored fields of a body', () => {
  const page = pages.get('/docs/reference/put-v21-orders-id/') ?? '';
  expect(page).toContain('<code>data</code>: <a href="../../schemas/Order/">Order</a>');
  expect(page).toContain('<code>eshopOrderId</code>');
  expect(page).toMatch(/Ignored in requests: <code>createdAt<\/code>/);
});

test('a page lists the response fields without the limits for requests', () => {
  const fieldsOf = (path: string) =>
    (pages.get(path) ?? '').split('<h2 id="fields">')[1]?.split('<h2 id="errors">')[0];
  const order = fieldsOf('/docs/reference/get-v21-orders-id/') ?? '';
  for (const name of Object.keys(document.components.schemas.Order?.properties ?? {}))
    expect(order).toContain(`<code>${name}</code>`);
  expect(order).toContain('list of <a href="../../schemas/OrderProduct/">OrderProduct</a>');
  expect(order).not.toMatch(/At (?:least|most)|Not empty|> required</);
  const list = fieldsOf('/docs/reference/get-v21-events/') ?? '';
  expect(list).toContain('<code>data</code>: list of <a href="../../schemas/Event/">Event</a>');
  expect(list).toContain('<code>sequence</code>');
  expect(list).toContain('<code>cursor</code>: <a href="../../schemas/Cursor/">Cursor</a>');
  expect(fieldsOf('/docs/reference/post-v21-warehouse-events-import/')).toContain('<code>repeated</code>');
});

test('limits are described in words, and left out if every number keeps them', () => {
  for (const [path, page] of pages) expect(page, path).not.toContain('9007199254740991');
  expect(pages.get('/docs/reference/get-v21-webhooks/')).toContain('From 1 to 10,000,000.');
});

test('every schema and event type has a page; event types show samples of both versions', () => {
  for (const name of Object.keys(document.components.schemas)) {
    expect(pages.get(`/docs/schemas/${name}/`)).toContain(`<h1>${name}</h1>`);
  }
  for (const type of eventTypeNames) {
    const page = pages.get(`/docs/events/${type}/`) ?? '';
    for (const version of ['v2', 'v21']) expect(page, type).toContain(`value="${version}"`);
    expect(pages.get('/docs/events/')).toContain(`href="../events/${type}/"`);
  }
});

test('every guide, chapter and decision has a page', () => {
  for (const folder of ['guides', 'handbook', 'decisions'])
    for (const file of readdirSync(`docs/${folder}`)) {
      const name = file.replace(/(?:README)?\.md$/, '');
      const [, title = ''] = /^# (.*)$/m.exec(readFileSync(`docs/${folder}/${file}`, 'utf8')) ?? [];
      const page = pages.get(`/docs/${folder}/${name === '' ? '' : `${name}/`}`);
      expect(page, file).toContain(`<h1>${escaped(title.replaceAll('`', ''))}</h1>`);
    }
});

test('no page has inline styles or scripts, which its content security policy would block', () => {
  for (const [path, page] of pages)
    expect(page.match(/<[^>]* (?:style|on\w+)=|<style|<script>/), path).toBeNull();
});

test('no page shows `undefined` or `[object …]`', () => {
  for (const [path, page] of pages)
    expect(page.match(/<(?!span class="hljs)[^>]*>undefined<|\[object /), path).toBeNull();
});

test('ids are unique on each page', () => {
  for (const [path, page] of pages) expect(idsOf(page).length, path).toBe(new Set(idsOf(page)).size);
});

test('a page with its assets is below 300 kB (60 kB compressed), the search index below 150 kB', async () => {
  const one = pages.get('/docs/') ?? '';
  const loaded = linksOf(one, `${ORIGIN}/docs/`).filter(({ pathname }) =>
    /\/assets\/|search\.json$/.test(pathname),
  );
  const addresses = new Set(loaded.map(({ pathname }) => pathname));
  expect(addresses.size).toBe(5);
  const sizes = { plain: 0, compressed: 0, search: 0 };
  for (const address of addresses) {
    const text = await textOf(address);
    if (/search/.test(address)) {
      sizes.search += gzipSync(text).length;
    } else {
      sizes.plain += Buffer.byteLength(text);
      sizes.compressed += gzipSync(text).length;
    }
  }
  expect(sizes.search).toBeLessThan(150_000);
  for (const [path, page] of pages) {
    expect(Buffer.byteLength(page) + sizes.plain, path).toBeLessThan(300_000);
    expect(gzipSync(page).length + sizes.compressed, path).toBeLessThan(60_000);
    for (const { origin } of linksOf(
      [...page.matchAll(/<(?:script|link|img) [^>]*>/g)].join(),
      `${ORIGIN}${path}`,
    ))
      expect(origin, path).toBe(ORIGIN);
  }
});

describe('search', () => {
  test.each([
    ['redeliver', 'reference/post-v21-deliveries-id-redeliver/'],
    ['verify signature', 'rules/how-to-verify-a-signature/'],
    ['CREATE_ORDER', 'events/CREATE_ORDER/'],
    ['quality_hold', 'events/CREATE_STOCK_MOVEMENT_QUALITY_HOLD/'],
    ['quickstart', 'guides/quickstart/'],
    ['recuver', 'reference/post-v21-webhooks-id-recover/'],
    ['back up and restore', 'handbook/backup/'],
  ])('%s finds %s', async (query, path) => {
    const { options, index } = JSON.parse(await textOf('/docs/search.json'));
    const found = MiniSearch.loadJS(index, options).search(query).slice(0, 10);
    expect(found.map(({ id }) => String(id).replace(/^\.\/|#.*$/g, ''))).toContain(path);
  });
});

describe('the server', () => {
  test('every file of the build is served unchanged', async () => {
    const entries = readdirSync(BUILT, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(entries.length).toBeGreaterThan(300);
    for (const { parentPath, name } of entries) {
      const file = `${parentPath}/${name}`;
      const address = `/docs${file.slice(BUILT.length)}`;
      expect(await textOf(address), address).toBe(readFileSync(file, 'utf8'));
    }
  });

  test('the public URL replaces the default address in pages, and nothing else changes', async () => {
    const publicUrl = 'https://shop.example/waybill';
    const other = await createTestApi({ publicUrl });
    for (const path of ['/docs/guides/quickstart/', '/docs/guides/quickstart.md', '/docs/openapi.json']) {
      const text = await textOf(path);
      expect(text).toContain('http://127.0.0.1:8080');
      const replaced = text.replaceAll('http://127.0.0.1:8080', publicUrl);
      expect(await (await other.app.request(path)).text()).toBe(replaced);
    }
    await other.drop();
  });

  test('pages are revalidated by their ETag, and assets are cached forever', async () => {
    const page = await api.app.request('/docs/events/');
    const etag = page.headers.get('etag') ?? '';
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const again = (tag: string) => api.app.request('/docs/events/', { headers: { 'if-none-match': tag } });
    expect([(await again(etag)).status, (await again('"another"')).status]).toEqual([304, 200]);
    const [style] = /assets\/docs-\w+\.css/.exec(await page.text()) ?? [];
    const { headers } = await api.app.request(`/docs/${style}`);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('content-type')).toBe('text/css; charset=utf-8');
  });

  test('a page is read and compressed once, however often it is requested', async () => {
    const { readFile } = promises;
    const read: string[] = [];
    vi.spyOn(promises, 'readFile').mockImplementation(async (...args) => {
      read.push(String(args[0]));
      return await readFile(...args);
    });
    syncBuiltinESMExports();
    const other = await createTestApi({ publicUrl: 'https://other.example' });
    onTestFinished(async () => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
      await other.drop();
    });
    const ask = (headers: Record<string, string>) => other.app.request('/docs/events/', { headers });
    const [plain, ...zipped] = await Promise.all([
      ask({}),
      ...['gzip, deflate, br', 'gzip;q=0.5'].map((encoding) => ask({ 'accept-encoding': encoding })),
    ]);
    const text = await plain?.text();
    for (const answer of zipped) {
      expect(answer.headers.get('content-encoding')).toBe('gzip');
      expect(gunzipSync(await answer.arrayBuffer()).toString()).toBe(text);
      expect(answer.headers.get('etag')).toBe(plain?.headers.get('etag'));
    }
    const refusing = await ask({ 'accept-encoding': 'br, gzip;q=0' });
    expect(refusing.headers.get('content-encoding')).toBeNull();
    expect(refusing.headers.get('vary')).toBe('Accept-Encoding');
    expect(await refusing.text()).toBe(text);
    expect(read.filter((file) => file.endsWith('docs/events/index.html'))).toHaveLength(1);
  });

  test('llms.txt lists documents for language models, and every link works', async () => {
    const answer = await api.app.request('/docs/llms.txt');
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const links = [...(await answer.text()).matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
    expect(links).toEqual(
      expect.arrayContaining(['openapi.json', 'guides/quickstart.md', 'handbook/install.md']),
    );
    for (const link of links) expect((await api.app.request(`/docs/${link}`)).status, link).toBe(200);
  });
});

test.each([
  ['/docs', '/docs/'],
  ['/docs/events', '/docs/events/'],
  ['/docs/guides/quickstart', '/docs/guides/quickstart/'],
])('%s redirects to the same path with a slash', async (path, to) => {
  const answer = await api.app.request(`${path}?a=1`);
  const location = new URL(answer.headers.get('location') ?? '', `${ORIGIN}${path}`);
  expect([answer.status, location.href]).toEqual([308, `${ORIGIN}${to}?a=1`]);
});

test('an unknown page is a 404', async () => {
  for (const path of [
    '/docs/none',
    '/docs/reference/none/',
    '/docs/guides/..%2f..%2fREADME',
    '/docs/a/b/c',
  ]) {
    expect((await api.app.request(path)).status, path).toBe(404);
  }
});

test('a path deeper than any page gets a short 404', async () => {
  const answer = await api.app.request(`/docs/${'/'.repeat(15_000)}`, { headers: { accept: 'text/html' } });
  expect(answer.status).toBe(404);
  expect((await answer.text()).length).toBeLessThan(1_000);
});

test('a 404 is a page for a browser, and the error body for a program', async () => {
  const ask = (accept: string) => api.app.request('/docs/guides/none', { headers: { accept } });
  const shown = await ask('text/html,application/xhtml+xml');
  expect([shown.status, shown.headers.get('content-type')]).toEqual([404, 'text/html; charset=UTF-8']);
  const page = await shown.text();
  expect(page).toContain('<h1>Not found</h1>');
  for (const { pathname } of linksOf(page, `${ORIGIN}/docs/guides/none`))
    expect(pathname).toMatch(/^\/docs\//);
  expect(page).toMatch(/href="\.\.\/assets\/docs-\w+\.css"/);
  expect(await (await ask('*/*')).json()).toMatchObject({ statusCode: 404 });
});
