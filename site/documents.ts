/** The documents of `docs/` that are pages: guides, the handbook, the decisions, and some about the whole. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { DOCS } from './assets.ts';
import { type PageText, readPage } from './page-text.ts';

/** A document and its page. */
export interface DocumentPage extends PageText {
  /** Of the file, below `docs/`: `guides/quickstart.md`. */
  readonly source: string;
  /** Of the page: `/docs/guides/quickstart`. */
  readonly path: string;
  readonly markdown: string;
}

/** The names of the guides in reading order. Guides not listed here come last. */
export const guideOrder: readonly string[] = [
  'quickstart',
  'on-your-laptop',
  'receiving',
  'verifying',
  'retries',
  'recovering',
  'idempotency',
  'stock',
  'an-eshops-day',
  'versions',
  'pre-orders',
  'from-your-wms',
  'importing',
  'going-live',
];

/** Pages outside a folder, in reading order. Other documents have diagrams, or are for maintainers. */
const ABOUT_THE_WHOLE: readonly string[] = [
  'is-it-for-me',
  'interface',
  'deliveries',
  'glossary',
  'changing-workflows',
  'scale',
  'measurements',
];

/** The documents by their parts of the site. */
export interface Documents {
  readonly guides: readonly DocumentPage[];
  readonly handbook: readonly DocumentPage[];
  readonly decisions: readonly DocumentPage[];
  readonly whole: readonly DocumentPage[];
}

/** The page of a document. */
function pathOf(source: string): string {
  return `${DOCS}/${source.replace(/(?:\/README)?\.md$/, '')}`;
}

/** The same order for any folder: as listed, then by name. */
function inOrder(sources: readonly string[], listed: readonly string[]): string[] {
  const place = (source: string) => (listed.includes(source) ? listed.indexOf(source) : listed.length);
  return sources.toSorted((a, b) => place(a) - place(b) || a.localeCompare(b));
}

/** The documents of a folder that a document links to, in the order of its links. */
function linkedFrom(markdown: string, folder: string): string[] {
  return [...markdown.matchAll(/\]\(([\w-]+\.md)/g)].map(([, file = '']) => join(folder, file));
}

/**
 * Where a link of a document leads on the site; null if it names a file that is no page.
 * @param source the document's, below `docs/`
 * @param pages the sources of all pages
 */
export function hrefFrom(source: string, pages: ReadonlySet<string>): (href: string) => string | null {
  return (href) => {
    if (/^(?:[a-z]+:|#)/.test(href)) return href;
    const [file = '', id] = href.split('#');
    const target = normalize(join(dirname(source), file));
    return pages.has(target) ? `${pathOf(target)}${id === undefined ? '' : `#${id}`}` : null;
  };
}

/** @param docs the folder `docs/` of the repository */
export function readDocuments(docs: string): Documents {
  const read = (source: string) => readFileSync(join(docs, source), 'utf8');
  const inFolder = (folder: string) =>
    readdirSync(join(docs, folder))
      .filter((file) => file.endsWith('.md'))
      .map((file) => join(folder, file));
  const contents = 'handbook/README.md';
  const sources = {
    guides: [
      ...inOrder(
        inFolder('guides'),
        guideOrder.map((name) => `guides/${name}.md`),
      ),
      'console.md',
    ],
    handbook: inOrder(inFolder('handbook'), [contents, ...linkedFrom(read(contents), 'handbook')]),
    decisions: inOrder(inFolder('decisions'), ['decisions/README.md']),
    whole: ABOUT_THE_WHOLE.map((name) => `${name}.md`),
  };
  const all = new Set(Object.values(sources).flat());
  const pageOf = (source: string): DocumentPage => {
    const markdown = read(source);
    return { source, path: pathOf(source), markdown, ...readPage(markdown, hrefFrom(source, all)) };
  };
  return {
    guides: sources.guides.map(pageOf),
    handbook: sources.handbook.map(pageOf),
    decisions: sources.decisions.map(pageOf),
    whole: sources.whole.map(pageOf),
  };
}
