/** Guides and other documents: Markdown in the repository, pages of the documentation. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { guideOrder, hrefFrom, readDocuments } from '../../site/documents.ts';
import { readPage } from '../../site/page-text.ts';
import { deliveryStates } from '../../src/domain/delivery-state.ts';
import { folderOfTest } from '../support/ends.ts';

const pages = new Set(['guides/receiving.md', 'guides/retries.md', 'handbook/README.md', 'console.md']);
const guide = readPage(
  `# A title

What it is *about*, in \`short\`.

## What's first?

See [another](receiving.md#what-to-check), [its start](./retries.md), [the handbook](../handbook/README.md), [below](#whats-first-1),
[elsewhere](https://x.example/a.md) and [the **source**](../../src/main.ts).

\`\`\`js Node.js
const a = 1 < 2;
\`\`\`

\`\`\`python Python
a = 1
\`\`\`

## What's first?

\`\`\`bash
echo '<b>'
\`\`\`

| a | b |
|---|--:|
| 1 | 2 |
`,
  hrefFrom('guides/first.md', pages),
);

test('the first heading is the title, and the first paragraph the summary', () => {
  expect(guide.title).toBe('A title');
  expect(guide.summary).toBe('What it is about, in short.');
  expect(String(guide.html)).not.toContain('<h1');
});

test('every heading has a unique anchor, as on GitHub', () => {
  expect(guide.headings).toEqual([
    { level: 2, id: 'whats-first', title: "What's first?" },
    { level: 2, id: 'whats-first-1', title: "What's first?" },
  ]);
  for (const { id } of guide.headings) expect(String(guide.html)).toContain(`<h2 id="${id}">`);
});

test('links to files lead to their pages, or become plain text', () => {
  const [paragraph] = /<p>See[\s\S]*?<\/p>/.exec(String(guide.html)) ?? [];
  expect([...String(paragraph).matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href)).toEqual([
    '/docs/guides/receiving#what-to-check',
    '/docs/guides/retries',
    '/docs/handbook',
    '#whats-first-1',
    'https://x.example/a.md',
  ]);
  expect(paragraph).toContain(' and the <strong>source</strong>.');
});

test('a column of numbers has a class', () => {
  const html = String(guide.html);
  expect(html).toContain('<th>a</th>');
  expect(html).toContain('<th class="number">b</th>');
  expect(html).toContain('<td class="number">2</td>');
});

test('labeled blocks of code share a choice, and others stand alone; both are escaped', () => {
  const html = String(guide.html);
  expect([...html.matchAll(/type="radio"[^>]*value="([^"]+)"/g)].map(([, label]) => label)).toEqual([
    'Node.js',
    'Python',
  ]);
  expect(html.match(/class="code"/g)).toHaveLength(3);
  expect(html).toContain('&lt;b&gt;');
  expect(html).toContain('<span class="hljs-keyword">const</span>');
});

test('the search has text by section', () => {
  expect(guide.sections.map(({ heading, text }) => [heading?.id, text.trim()])).toEqual([
    [undefined, 'What it is about, in short.'],
    ['whats-first', 'See another, its start, the handbook, below, elsewhere and the source.'],
    ['whats-first-1', 'a b 1 2'],
  ]);
});

test('guides come in the order of the list, and unlisted ones last', async () => {
  const folder = await folderOfTest('waybill-docs-');
  cpSync('docs', folder, { recursive: true });
  writeFileSync(join(folder, 'guides/a-new-one.md'), '# A new one\n');
  const names = readDocuments(folder).guides.map(({ source }) => source);
  expect(names).toEqual([...guideOrder, 'a-new-one'].map((name) => `guides/${name}.md`).concat('console.md'));
});

test('the guide to retries explains every state of a delivery', () => {
  const { guides } = readDocuments('docs');
  const html = String(guides.find(({ path }) => path === '/docs/guides/retries')?.html);
  for (const state of deliveryStates) expect(html).toContain(`<td><code>${state}</code></td>`);
});

test('chapters of the handbook come in the order of its contents', () => {
  const chapters = readDocuments('docs').handbook.map(({ path }) => path);
  expect(chapters.slice(0, 3)).toEqual([
    '/docs/handbook',
    '/docs/handbook/install',
    '/docs/handbook/kubernetes',
  ]);
});
