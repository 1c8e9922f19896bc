/** One record: its history and its fields. */
import type * as v from 'valibot';
import { capital } from '../../domain/text.ts';
import { piece, queryText } from '../api-client.ts';
import type { DeliveryList } from '../deliveries/rows.tsx';
import type { EventList } from '../events/list.tsx';
import { Page } from '../layout.tsx';
import { Live, More } from '../live-parts.tsx';
import { Card, Code, Empty } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import type { WebhookNames } from '../webhooks/name.tsx';
import { Fields, type Item, Lists, plain } from './fields.tsx';
import { History } from './history.tsx';
import type { Kind } from './kinds.ts';

export function RecordPage(props: {
  kind: Kind;
  id: string;
  item: Item;
  deliveries: v.InferOutput<typeof DeliveryList>['data'];
  events: v.InferOutput<typeof EventList>['data'];
  names: WebhookNames;
}) {
  const { kind, id, item, deliveries, events, names } = props;
  const { entry } = kind;
  return (
    <Page title={`${capital(entry.noun)} ${id}`} here={entry.path}>
      <div class="top">
        <h1>
          {capital(entry.noun)} {id}
        </h1>
        {plain(item.status) === null ? null : <span class="state busy">{plain(item.status)}</span>}
      </div>
      <Live id="history" path={`${CONSOLE}${entry.path}/${piece(id)}`}>
        <Card id="happened" title="History">
          {events.length === 0 ? (
            <Empty title="Events are no longer kept">
              Events and deliveries are dropped after some weeks; the record stays.
            </Empty>
          ) : (
            <>
              <History {...{ events, deliveries, names }} />
              <p>
                <a href={`${CONSOLE}/events${queryText({ entityId: id })}`}>All events</a>
              </p>
            </>
          )}
        </Card>
      </Live>
      <Lists item={item} />
      <Card id="fields" title="Fields">
        <Fields item={item} />
        <More id="record" title="The whole record">
          <Code text={JSON.stringify(item, null, 2)} named="Record" />
        </More>
      </Card>
    </Page>
  );
}
