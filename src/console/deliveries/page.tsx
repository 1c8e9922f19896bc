/** One delivery: its timeline, its request, and the possible actions. */
import { eventTypes } from '../../domain/event-types.ts';
import { maxAttempts } from '../../domain/retry-policy.ts';
import { MASK } from '../../domain/static-headers.ts';
import type { SignedRequest } from '../../domain/test-delivery.ts';
import { headerLines } from '../../domain/text.ts';
import type { Rejection } from '../api-client.ts';
import { State } from '../badges.tsx';
import { ConfirmPage } from '../confirm.tsx';
import { Page } from '../layout.tsx';
import { WebhookLink, type WebhookNames } from '../names.tsx';
import { Card, Code, Facts, Live, More, pretty, recordPath, TypeName } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { TemporalLinkList } from '../temporal-links.tsx';
import { Time } from '../times.tsx';
import { Next, type NextProps, Reason } from './next.tsx';
import type { Shown } from './standing.tsx';
import { Timeline } from './timeline.tsx';

/** Any text as one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The command, with one header per line. Brackets in an address are taken literally, not as a range. */
export function curlOf({ method, url, headers, body }: SignedRequest): string {
  const lines = [
    `curl --globoff --request ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`]),
  ];
  return lines.join(' \\\n  ');
}

const STATIC_HEADERS = ` The values of static headers are left out: put them in where it says ${MASK}.`;

export function GiveUpPage({ delivery, names }: { delivery: Shown; names: WebhookNames }) {
  const { id, webhookType, entityId, webhookId } = delivery;
  return (
    <ConfirmPage
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
        to <WebhookLink id={webhookId} names={names} />, and the delivery ends as canceled. The webhook is not
        affected. You can redeliver it later.
      </p>
      <input type="hidden" name="action" value="giveUp" />
      <Reason />
    </ConfirmPage>
  );
}

function Sent({ request }: { request: SignedRequest }) {
  const { method, url, headers, body } = request;
  return (
    <Card id="sent" title="Request">
      <Code text={`${method} ${url}`} label="Method and URL" fold />
      <h3>Headers</h3>
      <p class="quiet small">Signed again for this page: each attempt has its own timestamp and signature.</p>
      <Code text={headerLines(headers)} label="Headers" fold />
      {body === null ? (
        <p class="quiet">A GET request has no body.</p>
      ) : (
        <>
          <h3>Payload</h3>
          <Code text={pretty(body)} label="Payload" />
        </>
      )}
      <More id="curl" title="Send this request with curl">
        <p class="quiet small">
          Sends the same body, byte for byte, to the same URL. Receivers reject its signature after five
          minutes.{Object.values(headers).includes(MASK) ? STATIC_HEADERS : ''}
        </p>
        <Code text={curlOf(request)} label="curl command" fold />
      </More>
    </Card>
  );
}

/** @param request null if its event is no longer kept */
export function DeliveryPage(
  props: NextProps & {
    names: WebhookNames;
    request: SignedRequest | null;
    /** Its workflow in Temporal's UI; null for an e-shop's user. */
    workflow: string | null;
    notice?: string | undefined;
    refused?: Rejection | undefined;
  },
) {
  const { delivery, names, request, workflow, policy, notice, refused } = props;
  const { id, webhookType, entityId, webhookId, eventId, sequence, origin, changed } = delivery;
  const { state, attemptsMade, createdAt } = delivery;
  return (
    <Page title={`${webhookType} ${entityId}`} here="/deliveries" {...{ notice, refused, names }}>
      <Live id="delivery" path={`${CONSOLE}/deliveries/${id}`} also={['next', 'timeline', 'facts']}>
        <div class="top">
          <div>
            <h1>
              <TypeName type={webhookType} /> {entityId}
            </h1>
            <p class="quiet">
              to <WebhookLink id={webhookId} names={names} />, when {eventTypes[webhookType].firesWhen}
            </p>
          </div>
          <State state={state} />
        </div>
      </Live>
      <Next {...props} />
      <div class="two story">
        <Card id="story" title="What happened">
          <div id="timeline">
            <Timeline delivery={delivery} />
          </div>
        </Card>
        <div class="stack">
          <Card id="about" title="About">
            <div id="facts">
              <Facts
                facts={[
                  ['Record', <a href={recordPath(webhookType, entityId)}>{entityId}</a>],
                  ['Event', <a href={`${CONSOLE}/events/${eventId}`}>{eventId}</a>],
                  ['Sequence', String(sequence)],
                  ['Changed by', origin],
                  ['Changed fields', changed === null ? null : changed.replaceAll(',', ', ')],
                  ['Delivery', <code>{id}</code>],
                  ['Created', <Time at={createdAt} />],
                  ['Attempts', `${attemptsMade} of ${maxAttempts(policy)}`],
                ]}
              />
            </div>
          </Card>
          {workflow === null ? null : (
            <TemporalLinkList about={{ webhookId, entityId }} workflow={workflow} />
          )}
        </div>
      </div>
      {request === null ? null : <Sent request={request} />}
    </Page>
  );
}
