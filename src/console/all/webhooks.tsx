/** The webhooks of all e-shops of a person, with their health. */

import { recordOf } from '../../api/webhooks/record.ts';
import { type OperatorsWebhook, openByState } from '../../db/webhooks/all-webhooks.ts';
import { shortTypes } from '../../domain/event-types.ts';
import type { RetryPolicy } from '../../domain/retry-policy.ts';
import { nameOf } from '../../domain/webhook-name.ts';
import { typesOf } from '../../domain/webhook-types.ts';
import { type Query, queryText } from '../api-client.ts';
import { Filters } from '../filters.tsx';
import { Page } from '../layout.tsx';
import { Live } from '../live-parts.tsx';
import { Empty } from '../parts.tsx';
import { ALL, CONSOLE } from '../session.ts';
import { span } from '../times.tsx';
import { useViewer } from '../viewer.ts';
import { Health } from '../webhooks/health.tsx';
import { MAX_ROWS, titlesOf } from './scope.ts';

const PATH = `${ALL}/webhooks`;

export function AllWebhooksPage(props: {
  policy: RetryPolicy;
  asked: Query;
  webhooks: readonly OperatorsWebhook[];
  refused?: string | undefined;
}) {
  const { policy, asked, webhooks, refused } = props;
  const titles = titlesOf(useViewer());
  return (
    <Page title="All webhooks" here={PATH} refused={refused}>
      <h1>All webhooks</h1>
      <Filters path={PATH} asked={asked} shown={['among', 'trouble', 'webhookType', 'receiver']} />
      <Live id="webhooks" path={`${CONSOLE}${PATH}${queryText(asked)}`}>
        <section class="card flush" aria-label="Webhooks found">
          {webhooks.length === 0 ? (
            <Empty title="No webhooks">
              None matches these filters. E-shops create their webhooks in the console or through the API.
            </Empty>
          ) : (
            <ul class="rows">
              {webhooks.map((webhook) => {
                const { id, eshopId, method, url, oldestWaitSeconds } = webhook;
                return (
                  <li>
                    <p class="name">
                      <a href={`${CONSOLE}/webhooks/${id}`}>
                        {nameOf(webhook)} <span class="quiet">#{id}</span>
                      </a>
                    </p>
                    <p class="more">
                      <span class="eshop">{titles(eshopId)}</span>
                      <span>{shortTypes(typesOf(webhook))}</span>
                      <span>
                        {method} {url}
                      </span>
                      {Object.entries(openByState(webhook)).map(([state, count]) =>
                        count === 0 ? null : (
                          <span>
                            {count} {state}
                          </span>
                        ),
                      )}
                      {oldestWaitSeconds === null ? null : (
                        <span>oldest waits {span(oldestWaitSeconds * 1_000)}</span>
                      )}
                    </p>
                    <p class="end">
                      <Health webhook={recordOf(policy, webhook)} />
                    </p>
                  </li>
                );
              })}
            </ul>
          )}
          {webhooks.length < MAX_ROWS ? null : (
            <p class="pages">Only the first {MAX_ROWS} are shown. Use the filters to find others.</p>
          )}
        </section>
      </Live>
    </Page>
  );
}
