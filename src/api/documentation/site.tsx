/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The pages of the documentation, in order, and their contents. */
import type { Child } from 'hono/jsx';
import { eventPath, operationPath, rulesPath, schemaPath } from './addresses.ts';
import { DOCS } from './assets.ts';
import type { OpenApiDocument } from './document.ts';
import { EventCatalogue, EventPage } from './event-view.tsx';
import { groupsOf } from './groups.ts';
import { readGuides } from './guides.ts';
import { type NavEntry, type NavGroup, Page, type Section } from './layout.tsx';
import { blocks } from './markdown.ts';
import { Operation, sectionsOf } from './operation-view.tsx';
import { RulePage, rulesOf } from './rules.tsx';
import { FieldTable } from './schema-view.tsx';
import { beginningOf, type Findable, searchOver, wordsOf } from './search-index.ts';
import { Start } from './start-view.tsx';

/** A page, its entries in the search, and how it is made. */
interface SitePage {
  readonly place: NavEntry;
  readonly description: string;
  readonly sections?: readonly Section[];
  readonly findable: readonly Omit<Findable, 'part'>[];
  readonly body: () => Child;
}

export interface Site {
  /** The page of a path; null if there is none. */
  page(path: string): string | null;
  /** Shown to a browser if there is no page. */
  missing(): string;
  results(query: string): string;
  readonly paths: readonly string[];
  readonly findable: readonly Findable[];
}

function html(page: Child): string {
  return `<!doctype html>\n${page}\n`;
}

function guidePages(guides: ReturnType<typeof readGuides>): SitePage[] {
  return guides.map((guide) => {
    const path = `${DOCS}/guides/${guide.name}`;
    return {
      place: { path, title: guide.title },
      description: guide.summary,
      sections: guide.headings.filter(({ level }) => level === 2),
      findable: guide.sections.map(({ heading, text }) => ({
        id: heading === null ? path : `${path}#${heading.id}`,
        title: heading === null ? guide.title : `${guide.title}: ${heading.title}`,
        text: wordsOf(text),
      })),
      body: () => (
        <>
          <h1>{guide.title}</h1>
          {guide.html}
        </>
      ),
    };
  });
}

function whole(
  place: NavEntry,
  text: string,
  body: () => Child,
  sections: readonly Section[] = [],
): SitePage {
  const words = wordsOf(text);
  const end = words.indexOf('. ');
  return {
    place,
    description: end === -1 ? beginningOf(words, 150) : words.slice(0, end + 1),
    sections,
    findable: [{ id: place.path, title: place.title, text: words }],
    body,
  };
}

function sitePages(document: OpenApiDocument): { title: string; pages: SitePage[] }[] {
  const guides = readGuides();
  const groups = groupsOf(document);
  const rules = rulesOf(document.info.description);
  const schemas = Object.entries(document.components.schemas).sort(([a], [b]) => a.localeCompare(b));
  const start = whole({ path: DOCS, title: 'Start' }, document.info.title, () => (
    <Start document={document} groups={groups} guides={guides} rules={rules.map(({ title }) => title)} />
  ));
  return [
    { title: 'Documentation', pages: [start] },
    { title: 'Guides', pages: guidePages(guides) },
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

function Results({ query, found }: { query: string; found: readonly Findable[] }) {
  return (
    <>
      <h1>Search</h1>
      {query === '' ? (
        <p>
          Type words into the field above, or look at the <a href={DOCS}>index</a>.
        </p>
      ) : (
        <p>{found.length === 0 ? `Nothing was found for “${query}”.` : `Found for “${query}”:`}</p>
      )}
      <ul class="cards">
        {found.map(({ id, title, part, text }) => (
          <li>
            <a href={id}>{title}</a> <small>{part}</small>
            <p>{beginningOf(text, 160)}</p>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Makes the documentation; each page is made once, on its first request. */
export function makeSite(document: OpenApiDocument): Site {
  const all = sitePages(document);
  const parts: NavGroup[] = all.map(({ title, pages }) => ({
    title,
    places: pages.map(({ place }) => place),
  }));
  const pages = new Map(all.flatMap((part) => part.pages.map((page) => [page.place.path, page] as const)));
  const findable = all.flatMap(({ title, pages: own }) =>
    own.flatMap((page) => page.findable.map((entry) => ({ ...entry, part: title }))),
  );
  const made = new Map<string, string>();
  let search: ReturnType<typeof searchOver> | undefined;
  return {
    paths: [...pages.keys()],
    findable,
    page(path) {
      const page = pages.get(path);
      if (page === undefined) return null;
      const { place, description, sections = [], body } = page;
      const text =
        made.get(path) ??
        html(
          <Page path={path} title={place.title} description={description} parts={parts} sections={sections}>
            {body()}
          </Page>,
        );
      made.set(path, text);
      return text;
    },
    missing() {
      return html(
        <Page path={`${DOCS}/`} title="Not found" description="" parts={parts}>
          <h1>Not found</h1>
          <p>
            There is no such page. Search for it above, or <a href={DOCS}>begin at the start</a>.
          </p>
        </Page>,
      );
    },
    results(query) {
      search ??= searchOver(findable);
      return html(
        <Page path={`${DOCS}/search`} title="Search" description="" parts={parts} query={query}>
          <Results query={query} found={query === '' ? [] : search(query)} />
        </Page>,
      );
    },
  };
}
