/** The pages of the documentation, in order, and their contents. */
import type { Child } from 'hono/jsx';
import type { OpenApiDocument } from '../src/api/openapi/document.ts';
import { eventPath, operationPath, referencePath, rulesPath, schemaPath } from './addresses.ts';
import { DOCS } from './assets.ts';
import type { DocumentPage, Documents } from './documents.ts';
import { EventCatalogue, EventPage } from './event-view.tsx';
import { groupsOf } from './groups.ts';
import { type Book, type NavEntry, Page, type Section } from './layout.tsx';
import { blocks } from './markdown.ts';
import { Operation, sectionsOf } from './operation-view.tsx';
import { Reference, referenceSections } from './reference-view.tsx';
import { RulePage, rulesOf } from './rules.tsx';
import { FieldTable } from './schema-view.tsx';
import { beginningOf, type Findable, plainTextOf } from './search-index.ts';
import { Start, WHAT_IT_IS } from './start-view.tsx';

/** The longest description of a page for search engines, in characters: they show no more. */
const MAX_DESCRIPTION_CHARS = 160;

/** A page, its entries in the search, and how it is made. */
interface SitePage {
  readonly place: NavEntry;
  readonly description: string;
  readonly sections?: readonly Section[];
  readonly findable: readonly Omit<Findable, 'part'>[];
  readonly body: () => Child;
}

export interface Site {
  /** All pages of the contents, in order: path and HTML. */
  readonly pages: readonly (readonly [path: string, html: string])[];
  /** Fills itself by script. */
  readonly search: string;
  /** What a server answers where there is no page. */
  readonly missing: string;
  readonly findable: readonly Findable[];
}

/** Parts of the contents with their pages. */
interface BookOfPages {
  readonly title: string;
  readonly parts: readonly { readonly title: string; readonly pages: readonly SitePage[] }[];
}

function html(page: Child): string {
  return `<!doctype html>\n${page}\n`;
}

/** The number of a decision, by which others name it. */
const NUMBER = /^decisions\/0*(\d+)-/;

function documentPage(document: DocumentPage): SitePage {
  const { source, path, title, summary, headings, sections, html: text } = document;
  const [, mark] = NUMBER.exec(source) ?? [];
  return {
    place: { path, title, ...(mark === undefined ? {} : { mark }) },
    description: beginningOf(summary, MAX_DESCRIPTION_CHARS),
    sections: headings.filter(({ level }) => level === 2),
    findable: sections.map(({ heading, text: words }) => ({
      id: heading === null ? path : `${path}#${heading.id}`,
      title: heading === null ? title : `${title}: ${heading.title}`,
      text: plainTextOf(words),
    })),
    body: () => (
      <>
        <h1>{title}</h1>
        {text}
      </>
    ),
  };
}

function whole(
  place: NavEntry,
  text: string,
  body: () => Child,
  sections: readonly Section[] = [],
): SitePage {
  const words = plainTextOf(text);
  const end = words.indexOf('. ');
  return {
    place,
    description: beginningOf(end === -1 ? words : words.slice(0, end + 1), MAX_DESCRIPTION_CHARS),
    sections,
    findable: [{ id: place.path, title: place.title, text: words }],
    body,
  };
}

/** What e-shops read. */
function parts(document: OpenApiDocument, documents: Documents): BookOfPages['parts'] {
  const groups = groupsOf(document);
  const rules = rulesOf(document.info.description);
  const schemas = Object.entries(document.components.schemas).sort(([a], [b]) => a.localeCompare(b));
  const start = whole({ path: DOCS, title: 'Overview' }, WHAT_IT_IS, () => (
    <Start document={document} documents={documents} />
  ));
  const reference = whole(
    { path: referencePath, title: 'Reference' },
    'Index of all operations, event types and schemas.',
    () => <Reference document={document} groups={groups} rules={rules.map(({ title }) => title)} />,
    referenceSections,
  );
  return [
    { title: 'Documentation', pages: [start] },
    { title: 'Guides', pages: documents.guides.map(documentPage) },
    { title: 'Reference', pages: [reference] },
    {
      title: 'Rules of the interface',
      pages: rules.map((rule) =>
        whole({ path: rulesPath(rule.title), title: rule.title }, rule.text, () => <RulePage rule={rule} />),
      ),
    },
    {
      title: 'Event catalogue',
      pages: [
        whole({ path: `${DOCS}/events`, title: 'All events' }, 'All event types with samples', () => (
          <EventCatalogue document={document} />
        )),
        ...Object.entries(document.webhooks).map(([type, webhook]) =>
          whole(
            { path: eventPath(type), title: type },
            `${webhook.post?.summary ?? ''}. ${type.replaceAll('_', ' ').toLowerCase()}`,
            () => <EventPage type={type} webhook={webhook} document={document} />,
            [
              { id: 'sample', title: 'Sample' },
              { id: 'headers', title: 'Headers' },
              { id: 'fields', title: 'Fields' },
            ],
          ),
        ),
      ],
    },
    ...groups.map(({ name, operations }) => ({
      title: name,
      pages: operations.map((located) => {
        const { method, path, operation } = located;
        const mark = path.startsWith('/v2/') ? { mark: 'v2' } : {};
        return whole(
          { path: operationPath(method, path), title: operation.summary ?? path, method, ...mark },
          `${operation.description ?? ''} ${method.toUpperCase()} ${path}`,
          () => <Operation located={located} document={document} />,
          sectionsOf(located),
        );
      }),
    })),
    {
      title: 'Schemas',
      pages: schemas.map(([name, schema]) =>
        whole(
          { path: schemaPath(name), title: name },
          `${schema.description ?? ''} ${Object.keys(schema.properties ?? {}).join(' ')}`,
          () => (
            <>
              <h1>{name}</h1>
              {blocks(schema.description ?? '')}
              <FieldTable schema={schema} />
            </>
          ),
        ),
      ),
    },
  ];
}

/** What operators, and those who want to know how it works, read. */
function operatorsParts({ handbook, whole: about, decisions }: Documents): BookOfPages['parts'] {
  return [
    { title: 'Handbook', pages: handbook.map(documentPage) },
    { title: 'About Waybill', pages: about.map(documentPage) },
    { title: 'Decisions', pages: decisions.map(documentPage) },
  ];
}

/** Of the contents. */
function bookOf({ title, parts: own }: BookOfPages): Book {
  const places = own.map((part) => ({ title: part.title, places: part.pages.map(({ place }) => place) }));
  return { title, path: places[0]?.places[0]?.path ?? DOCS, parts: places };
}

export function makeSite(document: OpenApiDocument, documents: Documents): Site {
  const all: BookOfPages[] = [
    { title: 'For e-shops', parts: parts(document, documents) },
    { title: 'For operators', parts: operatorsParts(documents) },
  ];
  const books = all.map(bookOf);
  const allParts = all.flatMap((book) => book.parts);
  return {
    pages: allParts.flatMap(({ pages }) =>
      pages.map(({ place: { path, title }, description, sections = [], body }) => [
        path,
        html(
          <Page path={path} title={title} description={description} books={books} sections={sections}>
            {body()}
          </Page>,
        ),
      ]),
    ),
    search: html(
      <Page path={`${DOCS}/search`} title="Search" description="Search the documentation." books={books}>
        <h1>Search</h1>
        <p id="results">
          Searching needs JavaScript. Without it, look at the contents, or at the{' '}
          <a href={referencePath}>reference</a>.
        </p>
      </Page>,
    ),
    missing: html(
      <Page path={`${DOCS}/404.html`} title="Not found" description="There is no such page." books={books}>
        <h1>Not found</h1>
        <p>
          There is no such page. Search for it above, or <a href={DOCS}>begin at the start</a>.
        </p>
      </Page>,
    ),
    findable: allParts.flatMap(({ title, pages }) =>
      pages.flatMap((page) => page.findable.map((entry) => ({ ...entry, part: title }))),
    ),
  };
}
