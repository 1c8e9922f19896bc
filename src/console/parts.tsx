/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The components of pages. */
import type { Child, JSX } from 'hono/jsx';
import type { Pagination } from '../api/pagination.ts';
import { entryOf } from '../domain/catalogue.ts';
import type { DeliveryState } from '../domain/delivery-state.ts';
import { type EventType, eventTypes } from '../domain/event-types.ts';
import type { RecoveryState } from '../domain/recovery.ts';
import { piece, type Query, queryText } from './api-client.ts';
import { CONSOLE } from './session.ts';

/** A state as a colour; its name says the same. */
export type Tone = 'good' | 'warn' | 'bad' | 'calm' | 'busy' | '';

const TONES: Readonly<Record<DeliveryState, Tone>> = {
  pending: 'busy',
  retrying: 'warn',
  held: 'calm',
  delivered: 'good',
  failed: 'bad',
  expired: 'bad',
  canceled: '',
  superseded: '',
};

export function Badge({ tone, children }: { tone: Tone; children: Child }) {
  return <span class={`state ${tone}`}>{children}</span>;
}

export function State({ state }: { state: DeliveryState }) {
  return <Badge tone={TONES[state]}>{state}</Badge>;
}

/** A number with its name, linked to its list if there is one. */
export function Count({ name, value, path }: { name: string; value: string; path: string | null }) {
  const content = (
    <>
      <strong>{value}</strong>
      <span>{name}</span>
    </>
  );
  return path === null ? (
    <div class="card count">{content}</div>
  ) : (
    <a class="card count" href={`${CONSOLE}${path}`}>
      {content}
    </a>
  );
}

const RECOVERY_TONES = { running: 'busy', paused: 'calm', completed: 'good', canceled: '' } as const;

export function RecoveryBadge({ state }: { state: RecoveryState }) {
  return <Badge tone={RECOVERY_TONES[state]}>{state}</Badge>;
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

/** A text to copy. @param named its description, for screen readers */
export function Code({ text, named, fold = false }: { text: string; named: string; fold?: boolean }) {
  return (
    <div class="code">
      <section tabindex={0} aria-label={named}>
        <pre class={fold ? 'fold' : ''}>
          <code>{text}</code>
        </pre>
      </section>
    </div>
  );
}

/** One header per line, as on the wire. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
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

/** The choice of one of a webhook's types, for a test; null if it has only one. @param value the one chosen before */
export function TypeChoice({ types, value }: { types: readonly EventType[]; value?: string | undefined }) {
  if (types.length === 1) return null;
  return (
    <select name="type" aria-label="Type of the sample">
      {types.map((type) => (
        <option value={type} selected={type === value}>
          {type}
        </option>
      ))}
    </select>
  );
}

export function typeDescription(type: EventType): string {
  return eventTypes[type].firesWhen;
}

export function recordPath(type: EventType, entityId: string): string {
  return `${CONSOLE}${entryOf(type).path}/${piece(entityId)}`;
}

export function Pages({ paging, path, query }: { paging: Pagination; path: string; query: Query }) {
  const { page, totalPages, totalCount } = paging;
  if (totalCount === 0) return null;
  const to = (number: number) => `${CONSOLE}${path}${queryText({ ...query, page: String(number) })}`;
  return (
    <nav class="pages" aria-label="Pages">
      <span>
        Page {page} of {totalPages} · {totalCount.toLocaleString('en-US')}
        {totalCount === 10_000 ? ' or more' : ''} in all
      </span>
      <span class="acts">
        {page > 1 ? (
          <a class="button" href={to(page - 1)} rel="prev">
            Previous
          </a>
        ) : null}
        {page < totalPages ? (
          <a class="button" href={to(page + 1)} rel="next">
            Next
          </a>
        ) : null}
      </span>
    </nav>
  );
}

/**
 * A table that scrolls on its own on a narrow screen.
 * @param named its description, for screen readers
 * @param numbers columns of numbers, after the others
 */
export function Table(props: {
  named: string;
  columns: readonly string[];
  numbers?: readonly string[];
  children: Child;
}) {
  const { named, columns, numbers = [], children } = props;
  return (
    <section class="scroll" aria-label={named} tabindex={0}>
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

/** Shown if there is nothing to list. @param children the meaning of that, or the next step */
export function Empty({ title, children }: { title: string; children: Child }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/**
 * The part of a page that refreshes itself.
 * @param also the ids of {@link LivePart}s refreshed with it
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

/** See {@link Live}. */
export function LivePart({ id, children }: { id: string; children: Child }) {
  return <div id={id}>{children}</div>;
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

function describedBy(name: string, hint: string | undefined) {
  return hint === undefined ? {} : { 'aria-describedby': `${name}-hint` };
}

function Hint({ name, hint }: { name: string; hint: string | undefined }) {
  return hint === undefined ? null : (
    <span class="quiet" id={`${name}-hint`}>
      {hint}
    </span>
  );
}

export function Select(props: {
  name: string;
  label: string;
  value: string | undefined;
  options: readonly (readonly [string, string])[];
  hint?: string;
}) {
  const { name, label, value, options, hint } = props;
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name} {...describedBy(name, hint)}>
        {options.map(([option, text]) => (
          <option value={option} selected={option === (value ?? '')}>
            {text}
          </option>
        ))}
      </select>
      <Hint name={name} hint={hint} />
    </div>
  );
}

/** No `maxlength`: browsers count differently from the API, which refuses a text that is too long. */
export function TextArea({
  name,
  label,
  value = '',
  hint,
}: {
  name: string;
  label: string;
  value: string | undefined;
  hint?: string;
}) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <textarea id={name} name={name} rows={2} {...describedBy(name, hint)}>
        {/* HTML ignores the first line break. */}
        {`\n${value}`}
      </textarea>
      <Hint name={name} hint={hint} />
    </div>
  );
}

export function Input(
  props: JSX.IntrinsicElements['input'] & {
    name: string;
    label: string;
    value?: string | undefined;
    hint?: string;
  },
) {
  const { name, label, hint, value = '', type = 'text', ...rest } = props;
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input id={name} name={name} type={type} value={value} {...describedBy(name, hint)} {...rest} />
      <Hint name={name} hint={hint} />
    </div>
  );
}

export function Check({
  name,
  label,
  hint,
  checked,
}: {
  name: string;
  label: string;
  hint?: string;
  checked: boolean;
}) {
  return (
    <label class="check">
      <input type="checkbox" name={name} value="true" checked={checked} />
      <span>
        {label}
        {hint === undefined ? null : (
          <>
            <br />
            <span class="quiet small">{hint}</span>
          </>
        )}
      </span>
    </label>
  );
}
