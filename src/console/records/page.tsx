/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** One record: its history, its deliveries, and its fields. */
import type * as v from 'valibot';
import { capital } from '../../domain/text.ts';
import { piece, queryText } from '../api-client.ts';
import { type DeliveryList, DeliveryRows } from '../deliveries/rows.tsx';
import type { Viewer } from '../deps.ts';
import type { EventList } from '../events.tsx';
import { Page } from '../layout.tsx';
import { Code, Empty, Live, More } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { Fields, type Item, Lists, plain } from './fields.tsx';
import { History } from './history.tsx';
import type { Kind } from './kinds.ts';

export function RecordPage(props: {
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
          <section class="card flush" aria-labelledby="deliveries">
            <h2 id="deliveries">Deliveries</h2>
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
