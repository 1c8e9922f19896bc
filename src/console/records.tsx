/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The five kinds of record, to be read: lists, and each with its deliveries. */
import { Hono } from 'hono';
import * as v from 'valibot';
import { Pagination } from '../api/pagination.ts';
import { newestRecords } from '../db/console/records.ts';
import {
  type CatalogueEntry,
  orderEntry,
  productEntry,
  receivingEntry,
  returnEntry,
  stockMovementEntry,
} from '../domain/catalogue.ts';
import { type EventType, eventTypes } from '../domain/event-types.ts';
import { orderStatuses } from '../domain/order/status.ts';
import { receivingStatuses } from '../domain/receiving/status.ts';
import { returnStatuses } from '../domain/return/status.ts';
import { capital } from '../domain/words.ts';
import { piece, queryText } from './api-client.ts';
import { DeliveryList, DeliveryRows } from './deliveries/rows.tsx';
import type { ConsoleDeps, ConsoleEnv, Viewer } from './deps.ts';
import { EventList } from './events.tsx';
import { ChoiceFilter, Filters } from './filters.tsx';
import { History } from './history.tsx';
import { html, Page } from './layout.tsx';
import { Code, Empty, Input, Live, More, Pages } from './parts.tsx';
import { Fields, type Item, Lists, plain } from './record-parts.tsx';
import { CONSOLE } from './session.ts';
import { Ago } from './times.tsx';

const ROWS = 30;
const Shown = v.looseObject({});
const One = v.object({ data: Shown });
const Many = v.object({ data: v.array(Shown), pagination: Pagination });
interface Kind {
  readonly entry: CatalogueEntry;
  readonly title: string;
  /** Its fields that say most, in lists. */
  readonly told: readonly string[];
  /** By which field its list is filtered, as the API does it, and its values where these are few. */
  readonly by?: { readonly field: string; readonly label: string; readonly values?: readonly string[] };
}

const status = (values: readonly string[]) => ({ field: 'status', label: 'Status', values });

const kinds: readonly Kind[] = [
  {
    entry: orderEntry,
    title: 'Orders',
    told: ['recipientName', 'shipper', 'shipperService', 'orderType'],
    by: status(orderStatuses),
  },
  { entry: productEntry, title: 'Products', told: ['name', 'ean'] },
  {
    entry: receivingEntry,
    title: 'Receivings',
    told: ['supplier', 'deliveryNoteNumber', 'unitsAmount'],
    by: status(receivingStatuses),
  },
  {
    entry: returnEntry,
    title: 'Returns',
    told: ['eshopOrderId', 'shipper', 'trackingNumber'],
    by: status(returnStatuses),
  },
  {
    entry: stockMovementEntry,
    title: 'Stock movements',
    told: ['type', 'sku', 'count', 'reference'],
    by: { field: 'sku', label: 'SKU' },
  },
];

function text(item: Item, field: string): string {
  return plain(item[field]) ?? '';
}

function Row({ kind: { entry, told }, item, now }: { kind: Kind; item: Item; now: Date }) {
  const id = text(item, entry.idField);
  const [status, at] = [plain(item.status), plain(item.updatedAt) ?? plain(item.createdAt)];
  return (
    <li>
      <p class="name">
        <a href={`${CONSOLE}${entry.path}/${piece(id)}`}>{id}</a>
      </p>
      <p class="more">
        {told.flatMap((field) => {
          const value = plain(item[field]);
          return value === null || value === '' ? [] : [<span>{value}</span>];
        })}
      </p>
      <p class="end">
        {status === null ? null : <span class="state busy">{status}</span>}
        {at === null ? null : <Ago at={at} now={now} />}
      </p>
    </li>
  );
}

interface Listed {
  readonly items: readonly Item[];
  /** Whether it begins with the newest of all. */
  readonly isFirst: boolean;
  /** Where the next page begins; null where this is the last. */
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
    <Filters path={entry.path}>
      {values === undefined ? (
        <Input name={field} label={label} value={value} />
      ) : (
        <ChoiceFilter name={field} label={label} value={value} options={values.map((each) => [each, each])} />
      )}
    </Filters>
  );
}

/** @param filtered by the kind's own field; null where the newest of all are listed */
function ListPage(props: {
  viewer: Viewer;
  kind: Kind;
  listed: Listed;
  filtered?: { readonly value: string; readonly paging: Pagination };
}) {
  const { viewer, kind, listed, filtered } = props;
  const { entry, title } = kind;
  return (
    <Page title={title} viewer={viewer} here={entry.path}>
      <h1>{title}</h1>
      <form method="get" action={`${CONSOLE}/find${entry.path}`} class="card">
        <div class="filters">
          <Input name="id" label={`Identifier of the ${entry.noun}`} required />
          <div class="acts">
            <button type="submit" class="main">
              Open
            </button>
          </div>
        </div>
      </form>
      <FilterBy kind={kind} value={filtered?.value ?? ''} />
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
              <Row kind={kind} item={item} now={viewer.now} />
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

function RecordPage(props: {
  viewer: Viewer;
  kind: Kind;
  id: string;
  item: Item;
  deliveries: v.InferOutput<typeof DeliveryList>['data'];
  events: v.InferOutput<typeof EventList>['data'];
}) {
  const { viewer, kind, id, item, deliveries, events } = props;
  const { entry } = kind;
  return (
    <Page title={`${capital(entry.noun)} ${id}`} viewer={viewer} here={entry.path}>
      <div class="top">
        <h1>
          {capital(entry.noun)} {id}
        </h1>
        {plain(item.status) === null ? null : <span class="state busy">{plain(item.status)}</span>}
      </div>
      <Live id="history" path={`${CONSOLE}${entry.path}/${piece(id)}`}>
        <div class="two">
          <section class="card" aria-labelledby="happened">
            <h2 id="happened">History</h2>
            {events.length === 0 ? (
              <Empty title="Events are no longer kept">
                <p>Events and deliveries are dropped after some weeks; the record stays.</p>
              </Empty>
            ) : (
              <>
                <History {...{ events, deliveries, now: viewer.now }} />
                <p>
                  <a href={`${CONSOLE}/events${queryText({ entityId: id })}`}>All events</a>
                </p>
              </>
            )}
          </section>
          <section class="card flush" aria-labelledby="told">
            <h2 id="told">Deliveries</h2>
            {deliveries.length === 0 ? (
              <Empty title="No deliveries">
                <p>
                  <a href={`${CONSOLE}/events${queryText({ entityId: id })}`}>
                    See its events for the reason
                  </a>
                </p>
              </Empty>
            ) : (
              <DeliveryRows deliveries={deliveries} now={viewer.now} />
            )}
          </section>
        </div>
      </Live>
      <Lists item={item} />
      <section class="card" aria-labelledby="fields">
        <h2 id="fields">Fields</h2>
        <Fields item={item} />
        <More id="record" title="The whole record">
          <Code text={JSON.stringify(item, null, 2)} named="Record" />
        </More>
      </section>
    </Page>
  );
}

export function recordRoutes({ sql }: ConsoleDeps): Hono<ConsoleEnv> {
  const app = new Hono<ConsoleEnv>();
  for (const kind of kinds) {
    const { path } = kind.entry;
    app.get(`/find${path}`, (c) =>
      c.redirect(`${CONSOLE}${path}/${piece((c.req.query('id') ?? '').trim())}`, 303),
    );

    app.get(path, async (c) => {
      const { api, viewer } = c.var;
      const { eshopId } = viewer.session;
      const { by } = kind;
      const value = by === undefined ? '' : (c.req.query(by.field) ?? '').trim();
      if (by !== undefined && value !== '') {
        const query = { [by.field]: value, page: c.req.query('page'), items: String(ROWS) };
        const { data: items, pagination: paging } = await api.get(Many, `/v21${path}`, query);
        const listed = { items, isFirst: true, next: null };
        return c.html(html(<ListPage {...{ viewer, kind, listed }} filtered={{ value, paging }} />));
      }
      const before = c.req.query('before') ?? null;
      // One more says whether there are more.
      const rows = await newestRecords(sql, kind.entry.kind, eshopId, { before, most: ROWS + 1 });
      const items = rows.slice(0, ROWS);
      const last = rows.length > ROWS ? items.at(-1) : undefined;
      const next = last === undefined ? null : text(last, kind.entry.idField);
      return c.html(
        html(<ListPage {...{ viewer, kind }} listed={{ items, isFirst: before === null, next }} />),
      );
    });

    app.get(`${path}/:id`, async (c) => {
      const { api, viewer } = c.var;
      const id = c.req.param('id');
      const packed = kind.entry.kind === 'order' ? { withPackingLists: 'true' } : {};
      const [{ data: item }, told, happened] = await Promise.all([
        api.get(One, `/v21${path}/${piece(id)}`, packed),
        api.get(DeliveryList, '/v21/deliveries', { entityId: id, items: '20' }),
        api.get(EventList, '/v21/events', { entityId: id, items: '20' }),
      ]);
      // A product may have the number of an order.
      const ofKind = ({ webhookType }: { readonly webhookType: EventType }) =>
        eventTypes[webhookType].entity === kind.entry.kind;
      const [deliveries, events] = [told.data.filter(ofKind), happened.data.filter(ofKind)];
      return c.html(html(<RecordPage {...{ viewer, kind, id, item, deliveries, events }} />));
    });
  }
  return app;
}
