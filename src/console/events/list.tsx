/** The events of an e-shop, each with its outcome at every webhook. */
import * as v from 'valibot';
import { Event, MissingEvent } from '../../api/event-schemas.ts';
import { Pagination } from '../../api/pagination.ts';
import { MAX_EVENTS_SEARCHED } from '../../db/console/undelivered-events.ts';
import type { Query, Rejection } from '../api-client.ts';
import { Badge } from '../badges.tsx';
import { FILTER_FIELDS, Filters } from '../filters.tsx';
import { Select } from '../form-fields.tsx';
import { Page } from '../layout.tsx';
import { Sentence, type WebhookNames } from '../names.tsx';
import { Empty, Pages, TypeName } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { Ago } from '../times.tsx';
import { OutcomeLine } from './outcomes.tsx';

export const EVENTS = '/events';
/** The value of the filter `arrived` for events that no webhook got. */
export const NOT_DELIVERED = 'no';

export const EventList = v.object({
  data: v.array(Event),
  pagination: Pagination,
  missing: v.optional(v.array(MissingEvent)),
});

/** Events to be listed; without pages if only the latest were searched. */
export interface FoundEvents extends Omit<v.InferOutput<typeof EventList>, 'pagination'> {
  readonly pagination?: Pagination;
}

function Row({ event, names }: { event: v.InferOutput<typeof Event>; names: WebhookNames }) {
  const { id, webhookType, entityId, createdAt, webhooks, cause } = event;
  const without = cause === 'noLongerThere' ? 'no longer kept' : 'no webhook of this type';
  return (
    <li>
      <p class="name">
        <a href={`${CONSOLE}${EVENTS}/${id}`}>
          <TypeName type={webhookType} /> <span class="quiet">{entityId}</span>
        </a>
      </p>
      <p class="more">
        <OutcomeLine outcomes={webhooks} names={names} />
      </p>
      <p class="end">
        {webhooks.length > 0 ? null : <Badge tone="">{without}</Badge>}
        <Ago at={createdAt} />
      </p>
    </li>
  );
}

/** @param found null if the API refused the filters */
export function EventsPage(props: {
  asked: Query;
  found: FoundEvents | null;
  names: WebhookNames;
  refused: Rejection | undefined;
}) {
  const { asked, found, names, refused } = props;
  const filtered = Object.values(asked).some((value) => value !== undefined && value !== '');
  return (
    <Page title="Events" here={EVENTS} fields={FILTER_FIELDS} refused={refused}>
      <h1>Events</h1>
      <Filters path={EVENTS} asked={asked} shown={['entityId']} more={['webhookType', 'since', 'until']}>
        <Select
          name="arrived"
          label="Show"
          options={Object.entries({ '': 'every event', [NOT_DELIVERED]: 'not delivered to any webhook' })}
        />
      </Filters>
      {found?.missing === undefined || found.missing.length === 0 ? null : (
        <div class="note warn">
          {found.missing.map(({ reason }) => (
            <p>
              <Sentence text={reason} />
            </p>
          ))}
        </div>
      )}
      {found === null ? null : (
        <section class="card flush" aria-label="Events found">
          {found.data.length > 0 ? (
            <ul class="rows">
              {found.data.map((event) => (
                <Row event={event} names={names} />
              ))}
            </ul>
          ) : filtered ? (
            <Empty title="No events">No event matches these filters.</Empty>
          ) : (
            <Empty title="No events yet">
              Every change to an order, product, receiving, return or the stock is an event.
            </Empty>
          )}
          {found.pagination === undefined ? (
            <p class="pages">
              Of the latest {MAX_EVENTS_SEARCHED.toLocaleString('en-US')} events, those that no webhook has
              got.
            </p>
          ) : (
            <Pages paging={found.pagination} path={EVENTS} query={asked} />
          )}
        </section>
      )}
    </Page>
  );
}
