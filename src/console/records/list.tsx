/** The records of a kind: the newest first, or filtered. */
import type { Pagination } from '../../api/pagination.ts';
import { piece, queryText } from '../api-client.ts';
import { ChoiceFilter, Filters } from '../filters.tsx';
import { Input } from '../form-fields.tsx';
import { Page } from '../layout.tsx';
import { Empty, Pages } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { Ago } from '../times.tsx';
import { type Item, idIn, plain } from './fields.tsx';
import type { Kind } from './kinds.ts';

function Row({ kind: { entry, summaryFields }, item }: { kind: Kind; item: Item }) {
  const id = idIn(item, entry);
  const [status, at] = [plain(item.status), plain(item.updatedAt) ?? plain(item.createdAt)];
  return (
    <li>
      <p class="name">
        <a href={`${CONSOLE}${entry.path}/${piece(id)}`}>{id}</a>
      </p>
      <p class="more">
        {summaryFields.flatMap((field) => {
          const value = plain(item[field]);
          return value === null || value === '' ? [] : [<span>{value}</span>];
        })}
      </p>
      <p class="end">
        {status === null ? null : <span class="state busy">{status}</span>}
        {at === null ? null : <Ago at={at} />}
      </p>
    </li>
  );
}

interface Listed {
  readonly items: readonly Item[];
  /** Whether this page begins with the newest of all. */
  readonly isFirst: boolean;
  /** Where the next page begins; null if this is the last. */
  readonly next: string | null;
}

function Onward({ path, listed: { isFirst, next } }: { path: string; listed: Listed }) {
  if (isFirst && next === null) return null;
  return (
    <nav class="pages" aria-label="Pages">
      <span>Newest first</span>
      <span class="acts">
        {isFirst ? null : (
          <a class="button" href={`${CONSOLE}${path}`}>
            Newest
          </a>
        )}
        {next === null ? null : (
          <a class="button" href={`${CONSOLE}${path}${queryText({ before: next })}`} rel="next">
            Next
          </a>
        )}
      </span>
    </nav>
  );
}

function FilterBy({ kind: { entry, by }, value }: { kind: Kind; value: string }) {
  if (by === undefined) return null;
  const { field, label, values } = by;
  return (
    <Filters path={entry.path} asked={{ [field]: value }}>
      {values === undefined ? (
        <Input name={field} label={label} value={value} />
      ) : (
        <ChoiceFilter name={field} label={label} value={value} options={values.map((each) => [each, each])} />
      )}
    </Filters>
  );
}

/** @param filtered by the kind's own field; null if the newest of all are listed */
export function ListPage(props: {
  kind: Kind;
  listed: Listed;
  filtered?: { readonly value: string; readonly paging: Pagination };
}) {
  const { kind, listed, filtered } = props;
  const { entry, title } = kind;
  return (
    <Page title={title} here={entry.path}>
      <h1>{title}</h1>
      <div class="filters">
        <form method="get" action={`${CONSOLE}/find${entry.path}`} class="filters">
          <Input name="id" label={`Identifier of the ${entry.noun}`} required />
          <button type="submit">Open</button>
        </form>
        <FilterBy kind={kind} value={filtered?.value ?? ''} />
      </div>
      <section class="card flush" aria-label={title}>
        {listed.items.length === 0 ? (
          filtered === undefined ? (
            <Empty title={`No ${title.toLowerCase()} yet`}>
              <p>
                They appear here as soon as they are created through the <a href="/docs">API</a>.
              </p>
            </Empty>
          ) : (
            <Empty title={`No ${title.toLowerCase()} found`}>
              <p>
                None matches this filter. <a href={`${CONSOLE}${entry.path}`}>Show all of them</a>
              </p>
            </Empty>
          )
        ) : (
          <ul class="rows">
            {listed.items.map((item) => (
              <Row kind={kind} item={item} />
            ))}
          </ul>
        )}
        {filtered === undefined ? (
          <Onward path={entry.path} listed={listed} />
        ) : (
          <Pages
            paging={filtered.paging}
            path={entry.path}
            query={{ [kind.by?.field ?? '']: filtered.value }}
          />
        )}
      </section>
    </Page>
  );
}
