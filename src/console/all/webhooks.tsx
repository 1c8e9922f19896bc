/** The webhooks of all e-shops of a person, with their health. */
import * as v from 'valibot';
import { recordOf } from '../../api/webhooks/record.ts';
import { listAllWebhooks, openByState } from '../../db/webhooks/all-webhooks.ts';
import { briefDuration } from '../../domain/duration.ts';
import { eventTypeNames, shortTypes } from '../../domain/event-types.ts';
import { oneOf } from '../../domain/fields.ts';
import { problemsOf } from '../../domain/validation.ts';
import { nameOf } from '../../domain/webhook-name.ts';
import { typesOf } from '../../domain/webhook-types.ts';
import { nonEmpty, type Query, queryText } from '../api-client.ts';
import type { ConsoleApp, ConsoleDeps } from '../deps.ts';
import { FILTER_FIELDS, Filters } from '../filters.tsx';
import { Page, respond } from '../layout.tsx';
import { Empty, Live } from '../parts.tsx';
import { ALL, CONSOLE } from '../session.ts';
import { Health } from '../webhooks/health.tsx';
import { MAX_ROWS, numberField, scopeOf, titlesOf } from './scope.ts';

const PATH = `${ALL}/webhooks`;

const WebhookQuery = v.object({
  among: v.optional(numberField),
  trouble: v.optional(v.literal('true', 'must be true')),
  webhookType: v.optional(oneOf(eventTypeNames)),
  receiver: v.optional(v.pipe(v.string(), v.trim())),
});

export function webhooksOfAll(app: ConsoleApp, { sql, policy }: ConsoleDeps): void {
  app.get(PATH, async (c) => {
    const { viewer } = c.var;
    const titles = titlesOf(viewer);
    const asked: Query = c.req.query();
    const query = v.safeParse(WebhookQuery, nonEmpty(asked));
    const { among: eshopId, trouble, ...filter } = query.success ? query.output : {};
    const troubled = trouble === 'true';
    const wanted = { ...filter, troubled, longestWaitFirst: troubled, eshopId, among: scopeOf(viewer) };
    const webhooks = query.success ? await listAllWebhooks(sql, wanted, MAX_ROWS) : [];
    const refused = query.success ? undefined : problemsOf(query.issues, WebhookQuery);
    return respond(
      c,
      <Page title="All webhooks" here={PATH} fields={FILTER_FIELDS} refused={refused}>
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
                          <span>oldest waits {briefDuration(oldestWaitSeconds * 1_000)}</span>
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
      </Page>,
      query.success ? 200 : 400,
    );
  });
}
