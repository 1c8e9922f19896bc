/**
 * The documentation page shows the texts of the OpenAPI document as text, whatever they contain.
 */
import { expect, test } from 'vitest';
import { blocks, inline } from '../../site/markdown.ts';
import { makeSite } from '../../site/pages.tsx';
import type { DocumentedSchema, OpenApiDocument } from '../../src/api/openapi/document.ts';
import { anchor } from '../../src/domain/text.ts';

const hostile = '<script>alert("1")</script><img src=x onerror=alert(1)>';

test.each([
  hostile,
  '[here](javascript:alert(1))',
  '<https://x.example/"onclick="alert(1)>',
  '&lt;script&gt;',
])('Markdown: %s creates no tag and no active link', (text) => {
  for (const html of [blocks(text), inline(text)]) {
    expect(html.toString()).not.toMatch(/<(?:script|img)|href="javascript:|" ?onclick=/i);
  }
});

test('Markdown: headings get anchors, and lists and code are rendered', () => {
  expect(String(blocks(`## What's <new>\n\nTwo:\n\n- \`a<b\`\n- **b**`))).toBe(
    '<h2 id="what-s-new">What\'s &lt;new&gt;</h2>\n<p>Two:</p>\n<ul>\n<li><code>a&lt;b</code></li>\n<li><strong>b</strong></li>\n</ul>',
  );
  expect(anchor('"><script>')).toBe('script');
});

test('every text of the OpenAPI document is escaped on the page', () => {
  const schema: DocumentedSchema = {
    type: 'object',
    description: hostile,
    properties: { [hostile]: { const: hostile } },
  };
  const operation = {
    summary: hostile,
    description: hostile,
    tags: [hostile],
    parameters: [{ name: hostile, in: 'query', description: hostile, schema: { enum: [hostile] } }],
    requestBody: { content: { [hostile]: { schema } } },
    responses: { 200: { description: hostile, content: { 'application/json': { schema } } } },
  };
  const document: OpenApiDocument = {
    openapi: '3.1.0',
    info: { title: hostile, version: hostile, description: `## ${hostile}\n\n${hostile}` },
    tags: [{ name: hostile, description: hostile }],
    paths: { [`/${hostile}`]: { get: operation } },
    webhooks: { [hostile]: { post: operation } },
    components: { schemas: { [hostile]: schema } },
  };
  const site = makeSite(document, { guides: [], handbook: [], whole: [], decisions: [] });
  const pages = site.pages.map(([, page]) => page);
  for (const page of pages) {
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page).not.toMatch(/<script(?! src="\/docs\/assets\/)|<img(?! src="\/docs\/assets\/)/i);
  }
  expect(pages.join().match(/&lt;script&gt;/g)?.length).toBeGreaterThan(15);
});
