/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Events, with the outcome at every webhook. */
import { Hono } from 'hono';
import * as v from 'valibot';
import { Event, EventWithRecord, MissingEvent } from '../api/event-schemas.ts';
import { Pagination } from '../api/pagination.ts';
import { type DeliveryState, deliveryStates } from '../domain/delivery-state.ts';
import { ApiError, piece, type Query } from './api-client.ts';
import type { ConsoleEnv, Viewer } from './deps.ts';
import { EntityFilter, EventTypeFilter, Filters, TimeFilters } from './filters.tsx';
import { html, Page } from './layout.tsx';
import { Code, Empty, Facts, Pages, recordPath, State, TypeName, typeDescription } from './parts.tsx';
import { CONSOLE } from './session.ts';
import { Ago, fromField, Time } from './times.tsx';

const PATH = '/events';
const FILTERS = ['entityId', 'webhookType', 'since', 'until', 'page'] as const;
export const EventList = v.object({
  data: v.array(Event),
  pagination: Pagination,
  missing: v.optional(v.array(MissingEvent)),
});
const One = v.object({ data: EventWithRecord });
type Outcomes = v.InferOutput<typeof Event>['webhooks'];

function OutcomeList({ outcomes }: { outcomes: Outcomes }) {
  return (
    <ul class="stack">
      {outcomes.map(({ webhookId, deliveryId, state, lastError, reason }) => (
        <li class="acts">
          <a href={`${CONSOLE}/webhooks/${webhookId}`}>Webhook {webhookId}</a>
          {deliveryId === null || state === null ? (
            <span class="wrap">{reason}</span>
          ) : (
            <>
              <State state={state} />
              <a href={`${CONSOLE}/deliveries/${deliveryId}`}>Delivery</a>
              {lastError === null || state === 'delivered' ? null : (
                <span class="wrap quiet">{lastError}</span>
              )}
              {reason === null ? null : <span class="wrap quiet">{reason}</span>}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The webhooks with a delivery, by its state: an event may have many. */
function byState(outcomes: Outcomes): (readonly [DeliveryState, number[]])[] {
  return deliveryStates.flatMap((state) => {
    const ids = outcomes.filter((outcome) => outcome.state === state).map(({ webhookId }) => webhookId);
    return ids.length === 0 ? [] : [[state, ids] as const];
  });
}

function EventDetails({ event, now }: { event: v.InferOutput<typeof Event>; now: Date }) {
  const { id, webhookType, entityId, createdAt, webhooks, cause, reason } = event;
  return (
    <li>
      <p class="name">
        <a href={`${CONSOLE}${PATH}/${id}`}>
          {webhookType} <span class="quiet">{entityId}</span>
        </a>
      </p>
      <p class="more">
        {byState(webhooks).map(([state, ids]) => (
          <span>
            {state}: {ids.length === 1 ? 'webhook' : 'webhooks'} {ids.join(', ')}
          </span>
        ))}
        {webhooks.map(({ deliveryId, reason: why }) =>
          deliveryId === null && why !== null ? <span>{why}</span> : null,
        )}
        {reason === null || webhooks.length > 0 ? null : <span>{reason}</span>}
      </p>
      <p class="end">
        {webhooks.some(({ deliveryId }) => deliveryId !== null) ? null : (
          <span class="state">{cause === 'noLongerThere' ? 'no longer known' : 'no delivery'}</span>
        )}
        <Ago at={createdAt} now={now} />
      </p>
    </li>
  );
}

function EventRows(props: { events: v.InferOutput<typeof EventList>['data']; now: Date }) {
  return (
    <ul class="rows">
      {props.events.map((event) => (
        <EventDetails event={event} now={props.now} />
      ))}
    </ul>
  );
}

function EventsPage(props: {
  viewer: Viewer;
  asked: Query;
  found: v.InferOutput<typeof EventList> | null;
  refused?: string;
}) {
  const { viewer, asked, found, refused } = props;
  return (
    <Page title="Events" viewer={viewer} here={PATH} refused={refused}>
      <div class="top">
        <div>
          <h1>Events</h1>
          <p class="quiet">Every event: which webhooks were called for it, and why others were not.</p>
        </div>
      </div>
      <Filters path={PATH} button="Search">
        <EntityFilter value={asked.entityId} />
        <EventTypeFilter value={asked.webhookType} />
        <TimeFilters since={asked.since} until={asked.until} />
      </Filters>
      {found?.missing === undefined || found.missing.length === 0 ? null : (
        <div class="note warn">
          {found.missing.map(({ reason }) => (
            <p>{reason}</p>
          ))}
        </div>
      )}
      {found === null ? null : (
        <section class="card flush" aria-label="Events found">
          {found.data.length === 0 ? (
            <Empty title="No events">
              {Object.values(asked).some((value) => value !== undefined && value !== '') ? (
                <p>No event matches these filters.</p>
              ) : (
                <p>
                  Every change of an order, product, receiving, return or the stock is an event. Each event
                  says which webhooks got it, and why others did not.
                </p>
              )}
            </Empty>
          ) : (
            <EventRows events={found.data} now={viewer.now} />
          )}
          <Pages paging={found.pagination} path={PATH} query={asked} />
        </section>
      )}
    </Page>
  );
}

function EventPage({ viewer, event }: { viewer: Viewer; event: v.InferOutput<typeof EventWithRecord> }) {
  const { id, webhookType, entityId, origin, changed, createdAt, webhooks, reason, record } = event;
  return (
    <Page title={`Event ${webhookType} ${entityId}`} viewer={viewer} here={PATH}>
      <div class="top">
        <div>
          <h1>
            <TypeName type={webhookType} /> {entityId}
          </h1>
          <p class="quiet">Fires when {typeDescription(webhookType)}.</p>
        </div>
      </div>
      <div class="two">
        <section class="card" aria-labelledby="about">
          <h2 id="about">About</h2>
          <Facts
            facts={[
              ['Record', <a href={recordPath(webhookType, entityId)}>{entityId}</a>],
              ['Happened', <Time at={createdAt} />],
              ['Changed by', origin],
              ['Changed fields', changed === null ? null : changed.replaceAll(',', ', ')],
              ['Event', <code>{id}</code>],
            ]}
          />
        </section>
        <section class="card" aria-labelledby="became">
          <h2 id="became">Outcome by webhook</h2>
          {reason === null ? null : <p>{reason}</p>}
          <OutcomeList outcomes={webhooks} />
        </section>
      </div>
      <section class="card" aria-labelledby="record">
        <h2 id="record">Record after the event</h2>
        <Code text={JSON.stringify(record, null, 2)} named="Record" />
      </section>
    </Page>
  );
}

export function eventRoutes(): Hono<ConsoleEnv> {
  const app = new Hono<ConsoleEnv>();
  app.get('/events', async (c) => {
    const { viewer, api } = c.var;
    const asked = Object.fromEntries(FILTERS.map((name) => [name, c.req.query(name)?.trim()]));
    try {
      const query = { ...asked, since: fromField(asked.since), until: fromField(asked.until) };
      const found = await api.get(EventList, '/v21/events', query);
      return c.html(html(<EventsPage {...{ viewer, asked, found }} />));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error;
      return c.html(html(<EventsPage {...{ viewer, asked, found: null, refused: error.message }} />), 400);
    }
  });
  app.get('/events/:id', async (c) => {
    const { viewer, api } = c.var;
    const { data } = await api.get(One, `/v21/events/${piece(c.req.param('id'))}`);
    return c.html(html(<EventPage viewer={viewer} event={data} />));
  });
  return app;
}
