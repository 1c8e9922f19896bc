/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The deliveries of the e-shop, filtered as in the API, and live. */

import type * as v from 'valibot';
import { shortTypes } from '../../domain/event-types.ts';
import type { WebhookRecord } from '../../domain/webhook.ts';
import { typesOf } from '../../domain/webhook-types.ts';
import { type Query, queryText } from '../api-client.ts';
import type { Viewer } from '../deps.ts';
import {
  ChoiceFilter,
  EntityFilter,
  EventTypeFilter,
  Filters,
  StateFilter,
  StatusFilter,
  TimeFilters,
} from '../filters.tsx';
import { Page } from '../layout.tsx';
import { Empty, Live, Pages } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { type DeliveryList, DeliveryRows } from './rows.tsx';

const PATH = '/deliveries';

/** @param found null if the API refused the filters */
export function DeliveriesPage(props: {
  viewer: Viewer;
  asked: Query;
  webhooks: readonly Pick<WebhookRecord, 'id' | 'webhookType' | 'additionalTypes'>[];
  found: v.InferOutput<typeof DeliveryList> | null;
  refused?: string | undefined;
}) {
  const { viewer, asked, webhooks, found, refused } = props;
  const filtered = Object.entries(asked).some(
    ([name, value]) => name !== 'page' && value !== undefined && value !== '',
  );
  return (
    <Page title="Deliveries" viewer={viewer} here={PATH} refused={refused}>
      <h1>Deliveries</h1>
      <Filters
        path={PATH}
        six
        beside={
          filtered ? (
            <a class="button" href={`${CONSOLE}${PATH}`}>
              Clear
            </a>
          ) : null
        }
      >
        <StateFilter value={asked.state} />
        <ChoiceFilter
          name="webhookId"
          label="Webhook"
          value={asked.webhookId}
          options={webhooks.map((each) => [String(each.id), `${each.id} · ${shortTypes(typesOf(each))}`])}
        />
        <EventTypeFilter value={asked.webhookType} />
        <EntityFilter value={asked.entityId} />
        <StatusFilter value={asked.lastStatus} attempts={asked.attempts} />
        <TimeFilters since={asked.since} until={asked.until} />
      </Filters>
      {found === null ? null : (
        <Live id="deliveries" path={`${CONSOLE}${PATH}${queryText(asked)}`}>
          <section class="card flush" aria-label="Deliveries found">
            {found.data.length === 0 ? (
              <Empty title="No deliveries">
                {filtered ? (
                  <p>
                    No delivery matches these filters. If you expected one, its events say why it is missing:{' '}
                    <a href={`${CONSOLE}/events${queryText({ entityId: asked.entityId })}`}>
                      search the events
                    </a>
                  </p>
                ) : (
                  <p>Deliveries appear here as soon as an event fires one of your webhooks.</p>
                )}
              </Empty>
            ) : (
              <DeliveryRows deliveries={found.data} now={viewer.now} />
            )}
            <Pages paging={found.pagination} path={PATH} query={asked} />
          </section>
        </Live>
      )}
    </Page>
  );
}
