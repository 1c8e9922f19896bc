/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** One delivery: its timeline, its request, and the possible actions. */
import type * as v from 'valibot';
import type { DeliveryWithAttempts } from '../../api/deliveries/record.ts';
import { type ActionName, MAX_REASON_CHARS } from '../../domain/operator-action.ts';
import { MASK } from '../../domain/static-headers.ts';
import { queryText } from '../api-client.ts';
import { ConfirmPage } from '../confirm.tsx';
import type { SignedRequest, Viewer } from '../deps.ts';
import { Act, Csrf, Page } from '../layout.tsx';
import {
  Code,
  Facts,
  headerLines,
  Input,
  Live,
  LivePart,
  More,
  pretty,
  recordPath,
  State,
  TypeName,
  typeDescription,
} from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { linksOf, TemporalLinkList } from '../temporal-links.tsx';
import { Ago, Time } from '../times.tsx';
import { ACTIONS, isUnderWay } from './actions.ts';
import { curlOf } from './curl.ts';
import { Timeline } from './timeline.tsx';

const STATIC_HEADERS = ` The values of static headers are left out: put them in where it says ${MASK}.`;

type Shown = v.InferOutput<typeof DeliveryWithAttempts>;

function Actions({ delivery, viewer }: { delivery: Shown; viewer: Viewer }) {
  const { id, webhookId, createdAt, state } = delivery;
  return (
    <div class="acts">
      {isUnderWay(state) ? null : (
        <Act
          action={`/deliveries/${id}/redeliver`}
          viewer={viewer}
          kind={state === 'delivered' ? 'plain' : 'main'}
        >
          Redeliver
        </Act>
      )}
      <a
        class="button"
        href={`${CONSOLE}/webhooks/${webhookId}/recover${queryText({ since: createdAt.slice(0, 16) })}`}
      >
        Recover events since then
      </a>
    </div>
  );
}

/** @param offered the actions that would be accepted now and are allowed to the viewer */
function ActionsCard(props: { delivery: Shown; viewer: Viewer; offered: readonly ActionName[] }) {
  const { delivery, viewer, offered } = props;
  const path = `${CONSOLE}/deliveries/${delivery.id}`;
  return (
    <form method="post" action={`${path}/act`} class="card" aria-labelledby="act">
      <h2 id="act">Control this delivery</h2>
      <Csrf token={viewer.csrf} />
      <Reason />
      <LivePart id="offered">
        <div class="acts">
          {ACTIONS.filter(([action]) => offered.includes(action)).map(([action, name]) => (
            <button type="submit" name="action" value={action}>
              {name}
            </button>
          ))}
          <a class="button danger" href={`${path}/give-up`}>
            Give up
          </a>
        </div>
      </LivePart>
    </form>
  );
}

function Reason() {
  return (
    <Input name="reason" label="Reason (optional; recorded with the delivery)" maxlength={MAX_REASON_CHARS} />
  );
}

export function GiveUpPage({ viewer, delivery }: { viewer: Viewer; delivery: Shown }) {
  const { id, webhookType, entityId, webhookId } = delivery;
  return (
    <ConfirmPage
      viewer={viewer}
      here="/deliveries"
      title="Give up on this delivery?"
      button="Give up"
      action={`/deliveries/${id}/act`}
      back={`/deliveries/${id}`}
    >
      <p>
        No further attempts are made to deliver{' '}
        <strong class="wrap">
          {webhookType} {entityId}
        </strong>{' '}
        to webhook {webhookId}, and the delivery ends as canceled. The webhook is not affected. You can
        redeliver it later.
      </p>
      <input type="hidden" name="action" value="giveUp" />
      <Reason />
    </ConfirmPage>
  );
}

function Sent({ request }: { request: SignedRequest }) {
  const { method, url, headers, body } = request;
  return (
    <section class="card" aria-labelledby="sent">
      <h2 id="sent">Request</h2>
      <Code text={`${method} ${url}`} named="Method and URL" fold />
      <h3>Headers</h3>
      <p class="quiet small">Signed again for this page: each attempt has its own timestamp and signature.</p>
      <Code text={headerLines(headers)} named="Headers" fold />
      {body === null ? (
        <p class="quiet">A GET request has no body.</p>
      ) : (
        <>
          <h3>Payload</h3>
          <Code text={pretty(body)} named="Payload" />
        </>
      )}
      <More id="curl" title="Send this request with curl">
        <p class="quiet small">
          Sends the same body, byte for byte, to the same URL. Receivers reject its signature after five
          minutes.{Object.values(headers).includes(MASK) ? STATIC_HEADERS : ''}
        </p>
        <Code text={curlOf(request)} named="curl command" fold />
      </More>
    </section>
  );
}

/** @param request null if its event is no longer kept */
export function DeliveryPage(props: {
  viewer: Viewer;
  delivery: Shown;
  request: SignedRequest | null;
  /** The actions possible now. */
  offered: readonly ActionName[];
  /** Its workflow in Temporal's UI; null for an e-shop's user. */
  workflow: string | null;
  maxAttempts: number;
  notice?: string | undefined;
  refused?: string | undefined;
}) {
  const { viewer, delivery, request, offered, workflow, maxAttempts, notice, refused } = props;
  const {
    id,
    webhookType,
    entityId,
    webhookId,
    eventId,
    sequence,
    origin,
    changed,
    state,
    attemptsMade,
    createdAt,
    finishedAt,
  } = delivery;
  return (
    <Page
      title={`${webhookType} ${entityId}`}
      viewer={viewer}
      here="/deliveries"
      notice={notice}
      refused={refused}
    >
      <Live
        id="delivery"
        path={`${CONSOLE}/deliveries/${id}`}
        also={['acts', 'timeline', 'facts', 'offered']}
      >
        <div class="top">
          <div>
            <h1>
              <TypeName type={webhookType} /> {entityId}
            </h1>
            <p class="quiet">Fires when {typeDescription(webhookType)}.</p>
          </div>
          <State state={state} />
        </div>
      </Live>
      <LivePart id="acts">
        <Actions delivery={delivery} viewer={viewer} />
      </LivePart>
      <div class="two">
        <section class="card" aria-labelledby="story">
          <h2 id="story">What happened</h2>
          <LivePart id="timeline">
            <Timeline delivery={delivery} now={viewer.now} />
          </LivePart>
        </section>
        <div class="stack">
          <section class="card" aria-labelledby="about">
            <h2 id="about">About</h2>
            <LivePart id="facts">
              <Facts
                facts={[
                  ['Record', <a href={recordPath(webhookType, entityId)}>{entityId}</a>],
                  ['Webhook', <a href={`${CONSOLE}/webhooks/${webhookId}`}>{webhookId}</a>],
                  ['Event', <a href={`${CONSOLE}/events/${eventId}`}>{eventId}</a>],
                  ['Sequence', String(sequence)],
                  ['Changed by', origin],
                  ['Changed fields', changed === null ? null : changed.replaceAll(',', ', ')],
                  ['Delivery', <code>{id}</code>],
                  ['Created', <Time at={createdAt} />],
                  ['Ended', finishedAt === null ? null : <Ago at={finishedAt} now={viewer.now} />],
                  ['Attempts', `${attemptsMade} of ${maxAttempts}`],
                ]}
              />
            </LivePart>
          </section>
          {offered.length === 0 ? (
            <LivePart id="offered">{null}</LivePart>
          ) : (
            <ActionsCard {...{ delivery, viewer, offered }} />
          )}
          {workflow === null ? null : (
            <TemporalLinkList
              links={[
                { name: 'Workflow of this delivery', url: workflow },
                ...linksOf(viewer, { webhookId, entityId }),
              ]}
            />
          )}
        </div>
      </div>
      {request === null ? null : <Sent request={request} />}
    </Page>
  );
}
