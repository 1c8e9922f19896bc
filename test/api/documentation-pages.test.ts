/** The pages of the documentation: everything has a page, every link leads somewhere, and no page is large. */
import MiniSearch from 'minisearch';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { OpenApiDocument } from '../../src/api/documentation/document.ts';
import { searchOver } from '../../src/api/documentation/search-index.ts';
import { eventTypeNames } from '../../src/domain/event-types.ts';
import { anchor } from '../../src/domain/words.ts';
import { createTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let document: OpenApiDocument;
/** All pages in the contents, by path. */
const pages = new Map<string, string>();

const textOf = async (path: string) => (await api.app.request(path)).text();
const idsOf = (page: string) => new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));

beforeAll(async () => {
  api = await createTestApi();
  document = JSON.parse(await textOf('/openapi.json'));
  const start = await textOf('/docs');
  const contents = start.slice(start.indexOf('<nav id="contents"'), start.indexOf('</nav>'));
  for (const [, path = ''] of contents.matchAll(/href="([^"]+)"/g)) pages.set(path, await textOf(path));
});
afterAll(() => api?.drop());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

test('every operation has a page with what it does, takes and answers', () => {
  for (const { path, method, operation } of operations()) {
    const page = pages.get(`/docs/reference/${anchor(`${method} ${path}`)}`) ?? '';
    expect(page, `${method} ${path}`).toContain(`<h1>${operation.summary}</h1>`);
    expect(page, path).toContain(`<code>${path}</code>`);
    for (const language of ['curl', 'Node.js', 'Python', 'PHP']) {
      expect(page, `${method} ${path}: ${language}`).toContain(`value="${language}"`);
    }
    for (const id of ['request', 'response', 'errors']) expect(page).toContain(`<h2 id="${id}">`);
    if (operation.requestBody !== undefined) expect(page).toContain('<h2 id="body">');
    for (const { name } of operation.parameters ?? []) expect(page).toContain(`<code>${name}</code>`);
    expect(page).toContain('<code>401</code>');
  }
});

test('a page says what `data` is, and which fields of a body are ignored', () => {
  const page = pages.get('/docs/reference/put-v21-orders-id') ?? '';
  expect(page).toContain('<code>data</code>: <a href="/docs/schemas/Order">Order</a>');
  expect(page).toContain('<code>eshopOrderId</code>');
  expect(page).toMatch(/Ignored in requests: <code>createdAt<\/code>/);
});

test('every schema and every event type has a page, and the event types a sample of both versions', () => {
  for (const name of Object.keys(document.components.schemas)) {
    expect(pages.get(`/docs/schemas/${name}`)).toContain(`<h1>${name}</h1>`);
  }
  for (const type of eventTypeNames) {
    const page = pages.get(`/docs/events/${type}`) ?? '';
    for (const version of ['v2', 'v21']) expect(page, type).toContain(`value="${version}"`);
    expect(pages.get('/docs/events')).toContain(`href="/docs/events/${type}"`);
  }
});

test('no page has a style or a script within, which its content security policy would ignore', () => {
  for (const [path, page] of pages)
    expect(page.match(/<[^>]* (?:style|on\w+)=|<style|<script>/), path).toBeNull();
});

test('every link leads to a page, and to something on it', () => {
  const ids = new Map([...pages].map(([path, page]) => [path, idsOf(page)]));
  const dead: string[] = [];
  for (const [from, page] of pages) {
    if (/<(?!span class="hljs)[^>]*>undefined<|\[object /.test(page)) dead.push(`${from}: shows no value`);
    for (const [, link = ''] of page.matchAll(/href="([^"]+)"/g)) {
      if (/^\/docs\/assets\/|^\/openapi\.json$|^\/console$|^https?:/.test(link)) continue;
      const [path = '', id] = link.split('#');
      const found = ids.get(path === '' ? from : path);
      if (found === undefined || (id !== undefined && !found.has(decodeURIComponent(id))))
        dead.push(`${from}: ${link}`);
    }
  }
  expect(dead).toEqual([]);
});

test('no id is there twice on a page', () => {
  for (const [path, page] of pages) {
    const all = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(all.length, path).toBe(new Set(all).size);
  }
});

test('each page is below 300 kB with everything it loads, the search included', async () => {
  const one = pages.get('/docs') ?? '';
  const loaded = [
    ...one.matchAll(/(?:href|src|data-engine|data-index)="(\/docs\/(?:assets|search\.json)[^"]*)"/g),
  ];
  const addresses = new Set(loaded.map(([, address = '']) => address));
  expect(addresses.size).toBe(5);
  let rest = 0;
  for (const address of addresses) rest += Buffer.byteLength(await textOf(address));
  for (const [path, page] of pages) {
    expect(Buffer.byteLength(page) + rest, path).toBeLessThan(300_000);
    expect(page.match(/(?:src|rel="stylesheet" href)="(?!\/docs\/assets\/)/g), path).toBeNull();
  }
});

describe('search', () => {
  test.each([
    ['redeliver', '/docs/reference/post-v21-deliveries-id-redeliver'],
    ['verify signature', '/docs/rules/how-to-verify-a-signature'],
    ['CREATE_ORDER', '/docs/events/CREATE_ORDER'],
    ['quality_hold', '/docs/events/CREATE_STOCK_MOVEMENT_QUALITY_HOLD'],
    ['quickstart', '/docs/guides/quickstart'],
    ['recuver', '/docs/reference/post-v21-webhooks-id-recover'],
  ])('without script, %s finds %s', async (query, path) => {
    const page = await textOf(`/docs/search?q=${encodeURIComponent(query)}`);
    expect(page.slice(page.indexOf('<main'))).toContain(`href="${path}`);
  });

  test('as many words as fit into a query cost little more than a few', () => {
    const text = Array.from({ length: 4_000 }, (_, word) => `w${word.toString(36)}`).join(' ');
    const search = searchOver([{ id: '/docs', title: 'Start', part: 'Documentation', text }]);
    const asked = vi.spyOn(MiniSearch.prototype, 'search');
    expect(search('w '.repeat(100))).toHaveLength(1);
    search(Array.from({ length: 100 }, (_, word) => word.toString(36)).join('-'));
    expect(asked.mock.calls.map(([query]) => String(query).split(' ').length)).toEqual([2, 12]);
    asked.mockRestore();
  });

  test('what was searched for is text', async () => {
    const page = await textOf(`/docs/search?q=${encodeURIComponent('"><script>alert(1)</script>')}`);
    expect(page).not.toContain('<script>');
    expect(page).toContain('Nothing was found');
  });
});

test.each([
  ['/docs/', '/docs'],
  ['/docs/events/', '/docs/events'],
  ['/docs/guides/quickstart/', '/docs/guides/quickstart'],
])('%s leads to the page without the slash', async (path, to) => {
  const answer = await api.app.request(`${path}?a=1`);
  expect([answer.status, answer.headers.get('location')]).toEqual([308, `${to}?a=1`]);
});

test('a page that is not there is 404', async () => {
  for (const path of ['/docs/none', '/docs/reference/none', '/docs/guides/..%2f..%2fREADME']) {
    expect((await api.app.request(path)).status, path).toBe(404);
  }
});

test('a browser gets a page where there is none, and a program the error body', async () => {
  const ask = (accept: string) => api.app.request('/docs/guides/none', { headers: { accept } });
  const shown = await ask('text/html,application/xhtml+xml');
  expect([shown.status, shown.headers.get('content-type')]).toEqual([404, 'text/html; charset=UTF-8']);
  expect(await shown.text()).toContain('<h1>Not found</h1>');
  expect(await (await ask('*/*')).json()).toMatchObject({ statusCode: 404 });
});
