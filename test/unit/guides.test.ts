/** The guides: Markdown in the repository, pages of the documentation. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { readGuide } from '../../src/api/documentation/guide-text.ts';
import { guideOrder, readGuides } from '../../src/api/documentation/guides.ts';
import { deliveryStates } from '../../src/domain/delivery-state.ts';

const guide = readGuide(`# A title

What it is *about*, in \`short\`.

## What's first?

See [another](receiving.md#what-to-check), [its start](./retries.md) and [the reference](/docs/reference/get-v21-orders).

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
`);

test('the first heading is the title, the first paragraph the summary', () => {
  expect(guide.title).toBe('A title');
  expect(guide.summary).toBe('What it is about, in short.');
  expect(String(guide.html)).not.toContain('<h1');
});

test('every heading has an anchor of its own, as GitHub makes it', () => {
  expect(guide.headings).toEqual([
    { level: 2, id: 'whats-first', title: "What's first?" },
    { level: 2, id: 'whats-first-1', title: "What's first?" },
  ]);
  for (const { id } of guide.headings) expect(String(guide.html)).toContain(`<h2 id="${id}">`);
});

test("links to other guides' files lead to their pages", () => {
  expect([...String(guide.html).matchAll(/<a href="(\/[^"]+)"/g)].map(([, href]) => href)).toEqual([
    '/docs/guides/receiving#what-to-check',
    '/docs/guides/retries',
    '/docs/reference/get-v21-orders',
  ]);
});

test('a column of numbers is one by its class', () => {
  const html = String(guide.html);
  expect(html).toContain('<th>a</th>');
  expect(html).toContain('<th class="number">b</th>');
  expect(html).toContain('<td class="number">2</td>');
});

test('code with labels stands together behind one choice, other code alone; both are escaped', () => {
  const html = String(guide.html);
  expect([...html.matchAll(/type="radio"[^>]*value="([^"]+)"/g)].map(([, label]) => label)).toEqual([
    'Node.js',
    'Python',
  ]);
  expect(html.match(/class="code"/g)).toHaveLength(3);
  expect(html).toContain('&lt;b&gt;');
  expect(html).toContain('<span class="hljs-keyword">const</span>');
});

test('what is searched is text by section', () => {
  expect(guide.sections.map(({ heading, text }) => [heading?.id, text.trim()])).toEqual([
    [undefined, 'What it is about, in short.'],
    ['whats-first', 'See another, its start and the reference.'],
    ['whats-first-1', 'a b 1 2'],
  ]);
});

test('the guides come in the order of the list, and one that is not in it comes last', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-guides-'));
  for (const name of ['unlisted', ...[...guideOrder].reverse()]) {
    writeFileSync(join(folder, `${name}.md`), `# ${name}\n`);
  }
  const names = readGuides(pathToFileURL(`${folder}/`)).map(({ name }) => name);
  expect(names).toEqual([...guideOrder, 'unlisted']);
});

test('the guide to retries says what each state of a delivery means', () => {
  const html = String(readGuides().find(({ name }) => name === 'retries')?.html);
  for (const state of deliveryStates) expect(html).toContain(`<td><code>${state}</code></td>`);
});
