/** The components of pages. */
import type { Child } from 'hono/jsx';
import type { Pagination } from '../api/pagination.ts';
import { entryOf } from '../domain/catalogue.ts';
import type { EventType } from '../domain/event-types.ts';
import { piece, type Query, queryText } from './api-client.ts';
import { CONSOLE } from './session.ts';

/** A part of a page under a title. @param flush its rows reach its edges */
export function Card(props: { id: string; title: string; flush?: boolean; children: Child }) {
  const { id, title, flush = false, children } = props;
  return (
    <section class={flush ? 'card flush' : 'card'} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** Null and undefined are left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, Child | null | undefined])[] }) {
  return (
    <dl class="facts">
      {facts.flatMap(([name, value]) =>
        value === null || value === undefined ? [] : [<dt>{name}</dt>, <dd>{value}</dd>],
      )}
    </dl>
  );
}

/** A text to copy. @param label its description, for screen readers */
export function Code({ text, label, fold = false }: { text: string; label: string; fold?: boolean }) {
  return (
    <div class="code">
      <section tabindex={0} aria-label={label}>
        <pre class={fold ? 'fold' : ''}>
          <code>{text}</code>
        </pre>
      </section>
    </div>
  );
}

/** Indented JSON; other text stays as it is. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The name of an event type, which may break after an underscore: some are wider than a narrow screen. */
export function TypeName({ type }: { type: EventType }) {
  return <>{type.split(/(?<=_)/).flatMap((word, index) => (index === 0 ? [word] : [<wbr />, word]))}</>;
}

export function recordPath(type: EventType, entityId: string): string {
  return `${CONSOLE}${entryOf(type).path}/${piece(entityId)}`;
}

interface PagerLink {
  readonly name: string;
  readonly href: string;
  readonly rel?: 'prev' | 'next';
}

/** The position of a page in its list, and links to others. */
function PagerBar({ text, links }: { text: string; links: readonly PagerLink[] }) {
  return (
    <nav class="pages" aria-label="Pages">
      <span>{text}</span>
      <span class="actions">
        {links.map(({ name, ...link }) => (
          <a class="button" {...link}>
            {name}
          </a>
        ))}
      </span>
    </nav>
  );
}

export function Pages({ paging, path, query }: { paging: Pagination; path: string; query: Query }) {
  const { page, totalPages, totalCount } = paging;
  if (totalCount === 0) return null;
  const to = (number: number) => `${CONSOLE}${path}${queryText({ ...query, page: String(number) })}`;
  const links: PagerLink[] = [];
  if (page > 1) links.push({ name: 'Previous', href: to(page - 1), rel: 'prev' });
  if (page < totalPages) links.push({ name: 'Next', href: to(page + 1), rel: 'next' });
  const total = `${totalCount.toLocaleString('en-US')}${totalCount === 10_000 ? ' or more' : ''}`;
  return <PagerBar text={`Page ${page} of ${totalPages} · ${total} in all`} links={links} />;
}

/**
 * The links below a list that begins with the newest.
 * @param asked its query, in which `before` says where this page begins
 * @param next where the next page begins; undefined if this is the last
 */
export function CursorPager(props: {
  text: string;
  older: string;
  path: string;
  asked: Query;
  next: string | undefined;
}) {
  const { text, older, path, asked, next } = props;
  const to = (before: string) => `${CONSOLE}${path}${queryText({ ...asked, before })}`;
  const links: PagerLink[] = [];
  if (asked.before) links.push({ name: 'Newest', href: to('') });
  if (next !== undefined) links.push({ name: older, href: to(next), rel: 'next' });
  return links.length === 0 ? null : <PagerBar text={text} links={links} />;
}

/**
 * A table that scrolls on its own on a narrow screen.
 * @param label its description, for screen readers
 * @param numbers columns of numbers, after the others
 */
export function Table(props: {
  label: string;
  columns: readonly string[];
  numbers?: readonly string[];
  children: Child;
}) {
  const { label, columns, numbers = [], children } = props;
  return (
    <section class="scroll" aria-label={label} tabindex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((title) => (
              <th scope="col">{title}</th>
            ))}
            {numbers.map((title) => (
              <th scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** Shown if there is nothing to list. @param children what that means, or the next step */
export function Empty({ title, children, more }: { title: string; children: Child; more?: Child }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      <p>{children}</p>
      {more}
    </div>
  );
}

/**
 * How long all viewers of live pages share costly readings, in milliseconds. Too low: each reads again. Too high:
 * a change is seen later.
 */
export const SHARED_READ_MS = 3_000;

/**
 * The part of a page that refreshes itself.
 * @param also the ids of the elements refreshed with it
 */
export function Live(props: { id: string; path: string; also?: readonly string[]; children: Child }) {
  const { id, path, also = [], children } = props;
  const others = also.length === 0 ? {} : { 'hx-select-oob': also.map((each) => `#${each}`).join(',') };
  return (
    <div
      id={id}
      hx-get={path}
      hx-trigger="live from:body"
      hx-select={`#${id}`}
      hx-swap="outerHTML"
      {...others}
    >
      {children}
    </div>
  );
}

/** Details shown on demand; once opened, they stay open while their page is live. */
export function More(props: { id: string; title: string; small?: boolean; children: Child }) {
  const { id, title, small = false, children } = props;
  return (
    <details id={id}>
      <summary id={`${id}-title`} class={small ? 'small' : ''}>
        {title}
      </summary>
      {children}
    </details>
  );
}
