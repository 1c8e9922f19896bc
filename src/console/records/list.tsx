/** The records of a kind: newest first, or filtered. */
import type { Pagination } from '../../api/pagination.ts';
import { idOf } from '../../domain/catalogue.ts';
import { capital } from '../../domain/text.ts';
import { piece, type Query } from '../api-client.ts';
import { ChoiceFilter, Filters } from '../filters.tsx';
import { Input } from '../form-fields.tsx';
import { Page } from '../layout.tsx';
import { CursorPager, Empty, Pages } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { Ago } from '../times.tsx';
import { type Item, plain } from './fields.tsx';
import type { Kind } from './kinds.ts';

function Row({ kind: { entry, summaryFields }, item }: { kind: Kind; item: Item }) {
  const id = idOf(entry, item);
  const [status, at] = [plain(item.status), plain(item.updatedAt) ?? plain(item.createdAt)];
  return (
    <li>
      <p class="name">
        <a href={`${CONSOLE}${entry.path}/${piece(id)}`}>{id}</a>
      </p>
      <p class="more">
        {summaryFields.flatMap((field) => {
          const value = plain(item[field]);
          return value === null ? [] : [<span>{value}</span>];
        })}
      </p>
      <p class="end">
        {status === null ? null : <span class="state busy">{status}</span>}
        {at === null ? null : <Ago at={at} />}
      </p>
    </li>
  );
}

function FilterBy({ kind: { entry, by }, asked }: { kind: Kind; asked: Query }) {
  if (by === undefined) return null;
  const { field, label, values } = by;
  return (
    <Filters path={entry.path} asked={{ [field]: asked[field] }}>
      {values === undefined ? (
        <Input name={field} label={label} />
      ) : (
        <ChoiceFilter name={field} label={label} options={values.map((each) => [each, each])} />
      )}
    </Filters>
  );
}

/**
 * @param paging of a list that is filtered by the kind's own field; left out if the newest of all are listed
 * @param next where the next page of the newest begins, if there is one
 */
export function ListPage(props: {
  kind: Kind;
  items: readonly Item[];
  asked: Query;
  paging?: Pagination;
  next?: string | undefined;
}) {
  const { kind, items, asked, paging, next } = props;
  const { entry } = kind;
  const title = `${capital(entry.noun)}s`;
  return (
    <Page title={title} here={entry.path}>
      <h1>{title}</h1>
      <div class="filters">
        <form method="get" action={`${CONSOLE}/find${entry.path}`} class="filters">
          <Input name="id" label={`Identifier of the ${entry.noun}`} required />
          <button type="submit">Open</button>
        </form>
        <FilterBy kind={kind} asked={asked} />
      </div>
      <section class="card flush" aria-label={title}>
        {items.length === 0 ? (
          paging === undefined ? (
            <Empty title={`No ${title.toLowerCase()} yet`}>
              They appear here as soon as they are created through the <a href="/docs">API</a>.
            </Empty>
          ) : (
            <Empty title={`No ${title.toLowerCase()} found`}>
              None matches this filter. <a href={`${CONSOLE}${entry.path}`}>Show all of them</a>
            </Empty>
          )
        ) : (
          <ul class="rows">
            {items.map((item) => (
              <Row kind={kind} item={item} />
            ))}
          </ul>
        )}
        {paging === undefined ? (
          <CursorPager text="Newest first" older="Next" path={entry.path} asked={asked} next={next} />
        ) : (
          <Pages paging={paging} path={entry.path} query={asked} />
        )}
      </section>
    </Page>
  );
}
