/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** One webhook: its health, its latest deliveries, and the possible actions. */
import type * as v from 'valibot';
import type { Delivery } from '../../api/deliveries/record.ts';
import type { recoveryRecord } from '../../api/webhooks/recovery-record.ts';
import type { DeactivationMail } from '../../db/console/deactivation-mail.ts';
import type { ListedNotice } from '../../db/console/notices.ts';
import type { DeliveriesFrom } from '../../domain/eshop.ts';
import type { EventType } from '../../domain/event-types.ts';
import { isUnderWay } from '../../domain/recovery.ts';
import type { SigningKeyRecord } from '../../domain/signing-key.ts';
import type { TestDeliveryResult } from '../../domain/test-delivery.ts';
import type { WebhookRecord } from '../../domain/webhook.ts';
import { typesOf } from '../../domain/webhook-types.ts';
import { DeliveryRows } from '../deliveries/rows.tsx';
import type { Viewer } from '../deps.ts';
import { Act, Page } from '../layout.tsx';
import { NoticeRows } from '../notices/sent.tsx';
import {
  Code,
  Empty,
  Facts,
  Live,
  LivePart,
  RecoveryBadge,
  TypeChoice,
  TypeName,
  typeDescription,
} from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { linksOf, TemporalLinkList } from '../temporal-links.tsx';
import { Ago, Time } from '../times.tsx';
import { Health, Paused, Trouble } from './health.tsx';
import { PublicKeys } from './public-keys.tsx';
import { TestResultCard } from './test-result.tsx';

export interface WebhookPageProps {
  readonly viewer: Viewer;
  readonly webhook: WebhookRecord;
  readonly accepted: string | undefined;
  /** About its last deactivation. */
  readonly mail: DeactivationMail | null;
  readonly deliveries: readonly v.InferOutput<typeof Delivery>[];
  readonly recoveries: readonly v.InferOutput<typeof recoveryRecord>[];
  /** The latest notices about it. */
  readonly notices: readonly ListedNotice[];
  /** Until when the former secret signs too; null if there is none. */
  readonly overlapUntil: string | null;
  readonly deliveriesFrom: DeliveriesFrom;
  /** The public keys of the e-shop; none if the webhook is not asymmetric. */
  readonly signingKeys: readonly SigningKeyRecord[];
  /** Shown once. */
  readonly secret?: string | undefined;
  readonly testResult?: TestDeliveryResult | undefined;
  readonly notice?: string | undefined;
  readonly refused?: string | undefined;
}

function TypeLine({ type }: { type: EventType }) {
  return (
    <div>
      <TypeName type={type} /> <span class="quiet small">{typeDescription(type)}</span>
    </div>
  );
}

function NewSecret({ secret }: { secret: string }) {
  return (
    <section class="card" aria-labelledby="secret">
      <h2 id="secret">Signing secret</h2>
      <p>Your receiver verifies signatures with it. Copy it now: it is never shown again.</p>
      <Code text={secret} named="The new secret" fold />
    </section>
  );
}

function Secret({
  viewer,
  webhook: { id },
  overlapUntil,
}: Pick<WebhookPageProps, 'viewer' | 'webhook' | 'overlapUntil'>) {
  return (
    <section class="card" aria-labelledby="rotate">
      <h2 id="rotate">Secret</h2>
      {overlapUntil === null ? (
        <p class="quiet">
          A new secret is valid immediately. The old one is used alongside it for 24 hours, so that no
          delivery is rejected in the meantime.
        </p>
      ) : (
        <p>
          The previous secret is also used for signing until <Time at={overlapUntil} /> (
          <Ago at={overlapUntil} now={viewer.now} />
          ).
        </p>
      )}
      <p class="acts">
        <a class="button" href={`${CONSOLE}/webhooks/${id}/rotate`}>
          Regenerate secret
        </a>
      </p>
    </section>
  );
}

function Recoveries({ recoveries, viewer }: Pick<WebhookPageProps, 'recoveries' | 'viewer'>) {
  return (
    <section class="card flush" aria-labelledby="recoveries">
      <h2 id="recoveries">Recoveries</h2>
      <ul class="rows">
        {recoveries.map(
          ({
            state,
            reason,
            done,
            failed,
            superseded,
            left,
            count,
            createdAt,
            since,
            estimatedEndAt,
            recoveryId,
            webhookId,
          }) => (
            <li>
              <p class="name">
                {done} of {count} delivered
              </p>
              <p class="more">
                <span>
                  since <Time at={since} />
                </span>
                <span>{left} left</span>
                {failed === 0 ? null : <span>{failed} failed again</span>}
                {superseded === 0 ? null : <span>{superseded} superseded</span>}
                {estimatedEndAt === null ? null : (
                  <span>
                    ends <Ago at={estimatedEndAt} now={viewer.now} />
                  </span>
                )}
                {reason === null ? null : <span>{reason}</span>}
              </p>
              <div class="end">
                <RecoveryBadge state={state} />
                <Ago at={createdAt} now={viewer.now} />
                {isUnderWay(state) ? (
                  <Act action={`/webhooks/${webhookId}/recoveries/${recoveryId}/cancel`} viewer={viewer}>
                    Cancel recovery
                  </Act>
                ) : null}
              </div>
            </li>
          ),
        )}
      </ul>
    </section>
  );
}

export function WebhookPage(props: WebhookPageProps) {
  const {
    viewer,
    webhook,
    accepted,
    mail,
    deliveries,
    recoveries,
    notices,
    secret,
    testResult,
    notice,
    refused,
  } = props;
  const { addresses, userAgent } = props.deliveriesFrom;
  const { id, url, webhookType, active, method, payloadVersion, ordering, parameters, description, headers } =
    webhook;
  const types = typesOf(webhook);
  const others = types.length - 1;
  const path = `/webhooks/${id}`;
  return (
    <Page title={`Webhook ${id}`} viewer={viewer} here="/webhooks" notice={notice} refused={refused}>
      <Live id="health" path={`${CONSOLE}${path}`} also={['latest', 'recovered']}>
        <div class="stack">
          <div class="top">
            <div>
              <h1>
                <TypeName type={webhookType} /> {others === 0 ? null : `and ${others} more `}
                <span class="quiet">#{id}</span>
              </h1>
              <p class="quiet wrap">
                {method} {url}
                {others === 0 ? `, when ${typeDescription(webhookType)}` : null}
              </p>
            </div>
            <Health webhook={webhook} />
          </div>
          <Paused webhook={webhook} now={viewer.now} />
          <Trouble webhook={webhook} mail={mail} now={viewer.now} />
        </div>
      </Live>
      <div class="acts">
        <Act
          action={`${path}/test`}
          viewer={viewer}
          kind={active ? 'main' : 'plain'}
          choice={<TypeChoice types={types} value={testResult?.request.headers['x-service-event']} />}
        >
          Send a test
        </Act>
        <a class="button" href={`${CONSOLE}${path}/examine`}>
          Examine
        </a>
        {active ? null : (
          <Act action={`${path}/activate`} viewer={viewer} kind="main">
            Activate
          </Act>
        )}
        <a class="button" href={`${CONSOLE}${path}/edit`}>
          Edit
        </a>
        <a class="button" href={`${CONSOLE}${path}/recover`}>
          Recover
        </a>
        {webhook.pausedUntil === null ? null : (
          <Act action={`${path}/resume`} viewer={viewer}>
            Resume
          </Act>
        )}
        {active ? (
          <a class="button" href={`${CONSOLE}${path}/pause`}>
            {webhook.pausedUntil === null ? 'Pause' : 'Move the end of the pause'}
          </a>
        ) : null}
        {active ? (
          <a class="button" href={`${CONSOLE}${path}/deactivate`}>
            Deactivate
          </a>
        ) : null}
        <a class="button danger" href={`${CONSOLE}${path}/delete`}>
          Delete
        </a>
      </div>
      {secret === undefined ? null : <NewSecret secret={secret} />}
      {testResult === undefined ? null : <TestResultCard result={testResult} />}
      <div class="two">
        <section class="card" aria-labelledby="about">
          <h2 id="about">About</h2>
          <Facts
            facts={[
              ['Types', others === 0 ? null : types.map((type) => <TypeLine type={type} />)],
              ['URL', url],
              ['Method', method],
              ['Payload', method === 'GET' ? 'none: the identifier is in the URL' : payloadVersion],
              ['Ordering', ordering],
              ['Packing lists', parameters?.withPackingLists === true ? 'yes' : null],
              ['Personal data', parameters?.withoutPersonalData === true ? 'left out' : null],
              ['Changes of stock', parameters?.onStockChange === true ? 'yes' : null],
              ['Own changes', webhook.skipOwn ? 'left out' : null],
              ['Static headers', headers === null ? null : Object.keys(headers).join(', ')],
              ['Comes from', [...addresses, userAgent].join(', ')],
              ['Description', description],
              ['Registered', <Time at={webhook.registeredAt} />],
              ['Last success', accepted === undefined ? 'none yet' : <Ago at={accepted} now={viewer.now} />],
            ]}
          />
        </section>
        <Secret {...props} />
      </div>
      {webhook.asymmetric ? <PublicKeys viewer={viewer} id={id} keys={props.signingKeys} /> : null}
      <TemporalLinkList links={linksOf(viewer, { webhookId: id })} />
      <LivePart id="latest">
        <section class="card flush" aria-labelledby="deliveries">
          <h2 id="deliveries">Latest deliveries</h2>
          {deliveries.length === 0 ? (
            <Empty title="No deliveries yet">
              <p>
                The first one is made when {types.map(typeDescription).join(', or ')}. Tests are not listed
                here.
              </p>
            </Empty>
          ) : (
            <>
              <DeliveryRows deliveries={deliveries} now={viewer.now} />
              <p class="pages">
                <a href={`${CONSOLE}/deliveries?webhookId=${id}`}>All deliveries of this webhook</a>
              </p>
            </>
          )}
        </section>
      </LivePart>
      <LivePart id="recovered">
        {recoveries.length === 0 ? null : <Recoveries recoveries={recoveries} viewer={viewer} />}
        {notices.length === 0 ? null : (
          <section class="card flush" aria-labelledby="notices">
            <h2 id="notices">Notices</h2>
            <NoticeRows notices={notices} now={viewer.now} />
          </section>
        )}
      </LivePart>
    </Page>
  );
}
