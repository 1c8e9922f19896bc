/** The webhooks of the e-shop; those that need attention come first. */
import * as v from 'valibot';
import { lastAccepted } from '../../db/console/health.ts';
import { shortTypes } from '../../domain/event-types.ts';
import { type WebhookRecord, webhookRecordSchema } from '../../domain/webhook.ts';
import { webhookStates } from '../../domain/webhook-facts.ts';
import { nameOf } from '../../domain/webhook-name.ts';
import { typesOf } from '../../domain/webhook-types.ts';
import { type Query, queryText } from '../api-client.ts';
import type { ConsoleApp, ConsoleDeps } from '../deps.ts';
import { Input } from '../form-fields.tsx';
import { Page, respond } from '../layout.tsx';
import { Empty, Live } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { Ago } from '../times.tsx';
import { byUrgency, Health, stateOf } from './health.tsx';
import { NOTICES } from './show.tsx';

const PATH = '/webhooks';

function Row({ webhook, accepted }: { webhook: WebhookRecord; accepted: string | undefined }) {
  const { id, url, method, payloadVersion, incident } = webhook;
  return (
    <li>
      <p class="name">
        <a href={`${CONSOLE}${PATH}/${id}`}>{nameOf(webhook)}</a>
      </p>
      <p class="more">
        <span>{shortTypes(typesOf(webhook))}</span>
        <span>
          {method} {url}
        </span>
        {method === 'GET' ? null : <span>{payloadVersion}</span>}
      </p>
      <p class="end">
        <Health webhook={webhook} />
        {incident === null ? (
          <span>
            {accepted === undefined ? (
              'no success yet'
            ) : (
              <>
                last success <Ago at={accepted} />
              </>
            )}
          </span>
        ) : (
          <span>
            since <Ago at={incident.since} />
            {incident.deactivationAt === null ? null : (
              <>
                , will be deactivated <Ago at={incident.deactivationAt} />
              </>
            )}
          </span>
        )}
      </p>
    </li>
  );
}

/** The names of states with their numbers, each a filter. */
function States({ webhooks, asked }: { webhooks: readonly WebhookRecord[]; asked: Query }) {
  const counts = webhookStates.flatMap((state) => {
    const count = webhooks.filter((webhook) => stateOf(webhook) === state).length;
    return count === 0 && asked.state !== state ? [] : [[state, state, count] as const];
  });
  return (
    <nav class="tabs" aria-label="States">
      {([['', 'all', webhooks.length], ...counts] as const).map(([state, name, count]) => (
        <a
          href={`${CONSOLE}${PATH}${queryText({ ...asked, state })}`}
          {...(state === (asked.state ?? '') ? { 'aria-current': 'true' as const } : {})}
        >
          {name} {count}
        </a>
      ))}
    </nav>
  );
}

/** Whether a text occurs in the visible parts of a webhook. */
function hasText(webhook: WebhookRecord, text: string): boolean {
  const { id, url, description } = webhook;
  return [String(id), url, description ?? '', ...typesOf(webhook)].some((each) =>
    each.toLowerCase().includes(text.toLowerCase()),
  );
}

export function webhookList(app: ConsoleApp, { sql }: ConsoleDeps): void {
  app.get(PATH, async (c) => {
    const { api, viewer } = c.var;
    const [webhooks, accepted] = await Promise.all([
      api.get(v.array(webhookRecordSchema), '/v21/webhooks'),
      lastAccepted(sql, viewer.session.eshopId),
    ]);
    const { done = '', ...asked }: Query = c.req.query();
    const { q = '', state = '' } = asked;
    const found = webhooks.filter((webhook) => hasText(webhook, q.trim()));
    const listed = byUrgency(found).filter((webhook) => state === '' || stateOf(webhook) === state);
    return respond(
      c,
      <Page title="Webhooks" here={PATH} notice={NOTICES.get(done)}>
        <div class="top">
          <h1>Webhooks</h1>
          <a class="button main" href={`${CONSOLE}${PATH}/new`}>
            New webhook
          </a>
        </div>
        {webhooks.length === 0 ? null : (
          <form method="get" action={`${CONSOLE}${PATH}`} class="filters">
            <Input
              name="q"
              label="Search"
              type="search"
              value={q}
              placeholder="Description, URL or event type"
            />
            {state === '' ? null : <input type="hidden" name="state" value={state} />}
            <button type="submit">Search</button>
          </form>
        )}
        <Live id="webhooks" path={`${CONSOLE}${PATH}${queryText(asked)}`}>
          <div class="stack">
            {webhooks.length === 0 ? null : <States webhooks={found} asked={asked} />}
            <section class="card flush" aria-label="Webhooks found">
              {listed.length > 0 ? (
                <ul class="rows">
                  {listed.map((webhook) => (
                    <Row webhook={webhook} accepted={accepted.get(webhook.id)} />
                  ))}
                </ul>
              ) : webhooks.length > 0 ? (
                <Empty title="No webhook found">
                  <a href={`${CONSOLE}${PATH}`}>Show all of them</a>
                </Empty>
              ) : (
                <Empty title="No webhooks yet">
                  A webhook calls your URL when something happens: an order is created, its status changes, or
                  stock moves.
                </Empty>
              )}
            </section>
          </div>
        </Live>
      </Page>,
    );
  });
}
