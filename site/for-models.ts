/** What programs read instead of pages: `llms.txt` (llmstxt.org), which lists the documents, and their Markdown. */
import { dirname, relative } from 'node:path/posix';
import type { OpenApiDocument } from '../src/api/openapi/document.ts';
import { DOCS } from './assets.ts';
import { type DocumentPage, type Documents, hrefFrom } from './documents.ts';
import { WHAT_IT_IS } from './start-view.tsx';

/** The file beside a page: that of `/docs/guides/quickstart` is `guides/quickstart.md`. */
function fileOf(path: string): string {
  return `${path.slice(DOCS.length + 1)}.md`;
}

function allOf({ guides, handbook, whole, decisions }: Documents): readonly DocumentPage[] {
  return [...guides, ...handbook, ...whole, ...decisions];
}

/** A document with its links to others as they are here; what is no page loses its link. */
function linkedHere({ path, markdown }: DocumentPage, hrefOf: (href: string) => string | null): string {
  const link = (whole: string, words: string, href: string) => {
    const target = hrefOf(href);
    if (target === null) return words;
    if (target === href) return whole;
    const [page = '', id] = target.split('#');
    const file = relative(dirname(fileOf(path)), fileOf(page));
    return `[${words}](${file}${id === undefined ? '' : `#${id}`})`;
  };
  // Code stays as it is.
  return markdown
    .split(/(^```[\s\S]*?^```$)/m)
    .map((text, index) =>
      index % 2 === 1 ? text : text.replaceAll(/\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, link),
    )
    .join('');
}

export function markdownFiles(documents: Documents): (readonly [file: string, text: string])[] {
  const pages = new Set(allOf(documents).map(({ source }) => source));
  return allOf(documents).map((page) => [fileOf(page.path), linkedHere(page, hrefFrom(page.source, pages))]);
}

/** Links are relative, as everywhere: the file is below the path of the site. */
export function llmsText({ info }: OpenApiDocument, documents: Documents): string {
  const list = (pages: readonly DocumentPage[]) =>
    pages.map(({ path, title, summary }) => `- [${title}](${fileOf(path)}): ${summary}`).join('\n');
  return `# Waybill

> ${WHAT_IT_IS}

The API, version ${info.version}, is described in OpenAPI 3.1: every operation, event type and schema with examples.

- [openapi.json](openapi.json)

## Guides for e-shops

${list(documents.guides)}

## Handbook for operators

${list(documents.handbook)}

## About Waybill

${list(documents.whole)}

## Optional

${list(documents.decisions)}
`;
}
