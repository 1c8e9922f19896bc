/** The documentation as files: addresses relative to each page, and what programs read. */
import { expect, test } from 'vitest';
import { hrefFrom } from '../../site/documents.ts';
import { llmsText, markdownFiles } from '../../site/for-models.ts';
import { readPage } from '../../site/page-text.ts';
import { fromTheRoot, withRelativeLinks } from '../../site/relative.ts';

test.each([
  ['/docs', '<a href="/docs">', '<a href="./">'],
  ['/docs', '<a href="/docs/events/CREATE_ORDER#fields">', '<a href="./events/CREATE_ORDER/#fields">'],
  ['/docs/events', '<a href="/docs">', '<a href="../">'],
  ['/docs/guides/quickstart', '<a href="/docs/handbook">', '<a href="../../handbook/">'],
  [
    '/docs/guides/quickstart',
    '<script src="/docs/assets/docs-1.js">',
    '<script src="../../assets/docs-1.js">',
  ],
  [
    '/docs/guides/quickstart',
    '<form data-index="/docs/search.json">',
    '<form data-index="../../search.json">',
  ],
  ['/docs/guides/quickstart', '<a href="#top">', '<a href="#top">'],
  ['/docs/guides/quickstart', '<a href="https://x.example/docs/a">', '<a href="https://x.example/docs/a">'],
  ['/docs/guides/quickstart', '<code>/docs/a</code>', '<code>/docs/a</code>'],
])('a link on %s: %s becomes %s', (path, html, relative) => {
  expect(withRelativeLinks(html, path)).toBe(relative);
});

test('the search uses addresses relative to the root of the site', () => {
  expect(fromTheRoot('/docs')).toBe('./');
  expect(fromTheRoot('/docs/guides/quickstart#what-you-need')).toBe('./guides/quickstart/#what-you-need');
});

const page = (source: string, path: string, markdown: string) => ({
  source,
  path,
  markdown,
  ...readPage(markdown, hrefFrom(source, new Set())),
});
const first = page(
  'guides/first.md',
  '/docs/guides/first',
  '# First\n\nSee [the handbook](../handbook/README.md#a), [**code**](../../src/main.ts) and [it](https://x.example).\n\n```md\n[as it is](../../src/main.ts)\n```\n',
);
const documents = {
  guides: [first],
  handbook: [
    page('handbook/README.md', '/docs/handbook', '# Handbook\n\nBack to [the first](../guides/first.md).\n'),
  ],
  whole: [],
  decisions: [],
};

test("a page's Markdown links to Markdown, and loses links to pages that do not exist", () => {
  const files = Object.fromEntries(markdownFiles(documents));
  expect(files).toEqual({
    'guides/first.md':
      '# First\n\nSee [the handbook](../handbook.md#a), **code** and [it](https://x.example).\n\n```md\n[as it is](../../src/main.ts)\n```\n',
    'handbook.md': '# Handbook\n\nBack to [the first](guides/first.md).\n',
  });
});

test('llms.txt lists the pages with their first paragraphs', () => {
  const document = {
    openapi: '3.1.0',
    info: { title: '', version: '2.1.0', description: '' },
    tags: [],
    paths: {},
    webhooks: {},
    components: { schemas: {} },
  };
  const text = llmsText(document, documents);
  expect(text).toMatch(/^# Waybill\n\n> /);
  expect(text).toContain('- [openapi.json](openapi.json)');
  expect(text).toContain('- [First](guides/first.md): See the handbook, code and it.');
});
