/** The frame of every page: head, search, contents, neighbors. */
import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { HtmlEscapedString } from 'hono/utils/html';
import { asset, DOCS } from './assets.ts';

/** A page, as named in the contents and in its neighbors' links. */
export interface NavEntry {
  readonly path: string;
  readonly title: string;
  readonly method?: string;
  /** A word after the title, if two pages have the same title. */
  readonly mark?: string;
}

export interface NavGroup {
  readonly title: string;
  readonly places: readonly NavEntry[];
}

/** The parts that a reader has beside each other in the contents, as e-shops or as operators. */
export interface Book {
  readonly title: string;
  /** Of its first page. */
  readonly path: string;
  readonly parts: readonly NavGroup[];
}

export interface Section {
  readonly id: string;
  readonly title: string;
}

interface PageProps {
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly books: readonly Book[];
  readonly sections?: readonly Section[];
  readonly children: Child;
}

/** The method of an operation, in its color. @param method in any case */
export function Method({ method }: { method: string }) {
  return <span class={`method ${method.toLowerCase()}`}>{method.toUpperCase()}</span>;
}

/** A name that may wrap only after its underscores. */
export function Breakable({ name }: { name: string }) {
  const parts = name.split('_');
  return <>{parts.map((part, index) => (index < parts.length - 1 ? [`${part}_`, <wbr />] : part))}</>;
}

/** Names to choose from, in columns. @param named further classes of the list */
export function Index({ places, named = '' }: { places: readonly NavEntry[]; named?: string }) {
  return (
    <ul class={`index columns${named}`}>
      {places.map(({ path, title }) => (
        <li>
          <a href={path}>{title}</a>
        </li>
      ))}
    </ul>
  );
}

/** The heading of a section, which links to itself. */
export function SectionHeading({ id, title }: Section) {
  return (
    <h2 id={id}>
      <a href={`#${id}`}>{title}</a>
    </h2>
  );
}

function PlaceLink({ place, here }: { place: NavEntry; here?: string }) {
  return (
    <a href={place.path} {...(place.path === here ? { 'aria-current': 'page' as const } : {})}>
      {place.method === undefined ? null : <Method method={place.method} />}
      <span>
        <Breakable name={place.title} />
        {place.mark === undefined ? null : <small> {place.mark}</small>}
      </span>
    </a>
  );
}

function Part({ part: { title, places }, here }: { part: NavGroup; here?: string }) {
  return (
    <details open={here !== undefined}>
      <summary>{title}</summary>
      <ul>
        {places.map((place) => (
          <li>
            <PlaceLink place={place} {...(here === undefined ? {} : { here })} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Closed parts look the same on all pages, and rendering them takes most of a page's time. */
const closedParts = new WeakMap<NavGroup, HtmlEscapedString>();

function ClosedPart({ part }: { part: NavGroup }) {
  const made = closedParts.get(part) ?? raw(`${<Part part={part} />}`);
  closedParts.set(part, made);
  return made;
}

const isIn = ({ places }: NavGroup, here: string) => places.some(({ path }) => path === here);

function Contents({ books, here }: { books: readonly Book[]; here: string }) {
  const own = books.find(({ parts }) => parts.some((part) => isIn(part, here))) ?? books[0];
  return (
    <nav id="contents" popover="auto" aria-label="Contents">
      <ul class="books">
        {books.map((book) => (
          <li>
            <a href={book.path} {...(book === own ? { 'aria-current': 'true' as const } : {})}>
              {book.title}
            </a>
          </li>
        ))}
      </ul>
      {own?.parts.map((part) =>
        isIn(part, here) ? <Part part={part} here={here} /> : <ClosedPart part={part} />,
      )}
    </nav>
  );
}

function Bar() {
  return (
    <header class="bar">
      <button type="button" class="menu" popovertarget="contents">
        Contents
      </button>
      <a class="brand" href={DOCS}>
        <img src={asset('icon.svg')} alt="" width="22" height="22" />
        Waybill <span>Docs</span>
      </a>
      <search>
        <form
          action={`${DOCS}/search`}
          data-index={`${DOCS}/search.json`}
          data-engine={asset('minisearch.js')}
        >
          <input
            type="search"
            name="q"
            placeholder="Search"
            aria-label="Search the documentation"
            autocomplete="off"
            spellcheck={false}
          />
        </form>
      </search>
      <a class="console" href={`${DOCS}/console`}>
        Console
      </a>
    </header>
  );
}

function Neighbors({ books, here }: { books: readonly Book[]; here: string }) {
  const places = books.flatMap(({ parts }) => parts.flatMap((part) => part.places));
  const index = places.findIndex(({ path }) => path === here);
  if (index === -1) return null;
  const [before, after] = [places[index - 1], places[index + 1]];
  return (
    <nav class="neighbors" aria-label="Previous and next page">
      {before === undefined ? (
        <span />
      ) : (
        <a href={before.path} rel="prev">
          <small>Previous</small>
          <Breakable name={before.title} />
        </a>
      )}
      {after === undefined ? null : (
        <a href={after.path} rel="next">
          <small>Next</small>
          <Breakable name={after.title} />
        </a>
      )}
    </nav>
  );
}

function OnThisPage({ sections }: { sections: readonly Section[] }) {
  if (sections.length < 2) return null;
  return (
    <nav class="sections" aria-label="On this page">
      <strong>On this page</strong>
      <ul>
        {sections.map(({ id, title }) => (
          <li>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

export function Page({ path, title, description, books, sections = [], children }: PageProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content={description} />
        <title>{path === DOCS ? 'Waybill documentation' : `${title} · Waybill documentation`}</title>
        <link rel="icon" href={asset('icon.svg')} type="image/svg+xml" />
        <link rel="stylesheet" href={asset('docs.css')} />
        <script src={asset('docs.js')} defer></script>
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <Bar />
        <div class="docs">
          <Contents books={books} here={path} />
          <main id="main" tabindex={-1}>
            {children}
            <Neighbors books={books} here={path} />
          </main>
          <OnThisPage sections={sections} />
        </div>
      </body>
    </html>
  );
}
