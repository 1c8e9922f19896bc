/** The deliveries of the e-shop, filtered as in the API, and live. */

import type * as v from 'valibot';
import { given, type Query, queryText } from '../api-client.ts';
import { ChoiceFilter, FILTER_FIELDS, Filters } from '../filters.tsx';
import { Page } from '../layout.tsx';
import { Live } from '../live-parts.tsx';
import { Empty, Pages } from '../parts.tsx';
import type { Rejection } from '../problems.ts';
import { CONSOLE } from '../session.ts';
import type { WebhookNames } from '../webhooks/name.tsx';
import { type DeliveryList, DeliveryRows } from './rows.tsx';

const PATH = '/deliveries';

/** @param found null if the API refused the filters */
export function DeliveriesPage(props: {
  asked: Query;
  /** Of all its webhooks. */
  names: WebhookNames;
  found: v.InferOutput<typeof DeliveryList> | null;
  refused?: Rejection | undefined;
}) {
  const { asked, names, found, refused } = props;
  const { page: _, ...filters } = given(asked);
  const filtered = Object.keys(filters).length > 0;
  return (
    <Page title="Deliveries" here={PATH} fields={FILTER_FIELDS} refused={refused}>
      <h1>Deliveries</h1>
      <Filters
        path={PATH}
        asked={asked}
        shown={['entityId', 'state']}
        more={['webhookType', 'lastStatus', 'since', 'until']}
      >
        <ChoiceFilter
          name="webhookId"
          label="Webhook"
          options={[...names].map(([id, { name }]) => [String(id), name])}
        />
      </Filters>
      {found === null ? null : (
        <Live id="deliveries" path={`${CONSOLE}${PATH}${queryText(asked)}`}>
          <section class="card flush" aria-label="Deliveries found">
            {found.data.length === 0 ? (
              <Empty title="No deliveries">
                {filtered ? (
                  <>
                    No delivery matches these filters. If you expected one, its events say why it is missing:{' '}
                    <a href={`${CONSOLE}/events${queryText({ entityId: asked.entityId })}`}>
                      look at the events
                    </a>
                  </>
                ) : (
                  'Deliveries appear here as soon as an event fires one of your webhooks.'
                )}
              </Empty>
            ) : (
              <DeliveryRows deliveries={found.data} names={names} />
            )}
            <Pages paging={found.pagination} path={PATH} query={asked} />
          </section>
        </Live>
      )}
    </Page>
  );
}
