/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The webhooks of the e-shop, with their health. */
import { shortTypes } from '../../domain/event-types.ts';
import type { WebhookRecord } from '../../domain/webhook.ts';
import { typesOf } from '../../domain/webhook-types.ts';
import type { Viewer } from '../deps.ts';
import { Page } from '../layout.tsx';
import { Empty, Live } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { Ago } from '../times.tsx';
import { Health } from './health.tsx';

const PATH = '/webhooks';

function Row(props: { webhook: WebhookRecord; accepted: string | undefined; now: Date }) {
  const { webhook, accepted, now } = props;
  const { id, url, method, payloadVersion, description, incident } = webhook;
  return (
    <li>
      <p class="name">
        <a href={`${CONSOLE}${PATH}/${id}`}>
          {shortTypes(typesOf(webhook))} <span class="quiet">#{id}</span>
        </a>
      </p>
      <p class="more">
        <span>
          {method} {url}
        </span>
        <span>{method === 'GET' ? 'no body' : `payload ${payloadVersion}`}</span>
        {description === null || description === '' ? null : <span>{description}</span>}
      </p>
      <p class="end">
        <Health webhook={webhook} />
        {incident === null ? (
          <span>
            {accepted === undefined ? (
              'no success yet'
            ) : (
              <>
                last success <Ago at={accepted} now={now} />
              </>
            )}
          </span>
        ) : (
          <span>
            started failing <Ago at={incident.since} now={now} />
            {incident.deactivationAt === null ? null : (
              <>
                , will be deactivated <Ago at={incident.deactivationAt} now={now} />
              </>
            )}
          </span>
        )}
      </p>
    </li>
  );
}

/** @param accepted when each last accepted a delivery */
export function WebhooksPage(props: {
  viewer: Viewer;
  webhooks: readonly WebhookRecord[];
  accepted: ReadonlyMap<number, string>;
  notice?: string | undefined;
}) {
  const { viewer, webhooks, accepted, notice } = props;
  return (
    <Page title="Webhooks" viewer={viewer} here={PATH} notice={notice}>
      <div class="top">
        <h1>Webhooks</h1>
        <a class="button main" href={`${CONSOLE}${PATH}/new`}>
          New webhook
        </a>
      </div>
      <Live id="webhooks" path={`${CONSOLE}${PATH}`}>
        <section class="card flush" aria-label="All webhooks">
          {webhooks.length === 0 ? (
            <Empty title="No webhooks yet">
              <p>
                A webhook calls your URL when something happens: an order is created, its status changes, or
                stock moves.
              </p>
            </Empty>
          ) : (
            <ul class="rows">
              {webhooks.map((webhook) => (
                <Row webhook={webhook} accepted={accepted.get(webhook.id)} now={viewer.now} />
              ))}
            </ul>
          )}
        </section>
      </Live>
    </Page>
  );
}
