/** One webhook: its health, its latest deliveries, and the possible actions. */
import type { Context } from 'hono';
import * as v from 'valibot';
import { Delivery } from '../../api/deliveries/record.ts';
import { recoveryRecord } from '../../api/webhooks/recovery-record.ts';
import { lastAccepted } from '../../db/console/health.ts';
import { listNotices } from '../../db/console/notices.ts';
import { findWebhookWithSecrets } from '../../db/webhooks/with-secrets.ts';
import { eshopRecordSchema } from '../../domain/eshop.ts';
import { eventTypes } from '../../domain/event-types.ts';
import { signingKeySchema } from '../../domain/signing-key.ts';
import type { TestDeliveryResult } from '../../domain/test-delivery.ts';
import { type WebhookRecord, webhookRecordSchema } from '../../domain/webhook.ts';
import { factsOf } from '../../domain/webhook-facts.ts';
import { nameOf } from '../../domain/webhook-name.ts';
import { typesOf } from '../../domain/webhook-types.ts';
import { piece, type Rejection } from '../api-client.ts';
import { DeliveryRows } from '../deliveries/rows.tsx';
import type { ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { TypeChoice } from '../form-fields.tsx';
import { ActionButton, Page } from '../layout.tsx';
import { namesOf } from '../names.tsx';
import { NoticeRows } from '../notices/sent.tsx';
import { Card, Empty, Facts, Live, TypeName } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { TemporalLinkList } from '../temporal-links.tsx';
import { Ago, Time } from '../times.tsx';
import { Health, needsAttention, Paused, Trouble } from './health.tsx';
import { Recoveries } from './recoveries.tsx';
import { NewSecret, Overlap, PublicKeys } from './secret.tsx';
import { TestResultCard } from './test-result.tsx';

export const SigningKeys = v.array(signingKeySchema);
export const SIGNING_KEYS = '/v21/eshop/signing-keys';

/** When the former secret of a webhook stops signing; null if there is none. */
export async function findOverlap(sql: ConsoleDeps['sql'], c: Context<ConsoleEnv>, id: number) {
  const { session, now } = c.var.viewer;
  const until = (await findWebhookWithSecrets(sql, session.eshopId, id))?.previousSecretUntil ?? null;
  return until !== null && until > now ? until.toISOString() : null;
}

/** The data on the page of a webhook. */
export async function readWebhook({ sql, policy }: ConsoleDeps, c: Context<ConsoleEnv>, id: string) {
  const { api, viewer } = c.var;
  const at = `/v21/webhooks/${piece(id)}`;
  const webhook = await api.get(webhookRecordSchema, at);
  const [accepted, deliveries, recoveries, eshop, overlapUntil, sent, signingKeys] = await Promise.all([
    lastAccepted(sql, viewer.session.eshopId),
    api.get(v.array(Delivery), `${at}/deliveries`, { items: '8' }),
    api.get(v.array(recoveryRecord), `${at}/recoveries`, { items: '5' }),
    api.get(eshopRecordSchema, '/v21/eshop'),
    findOverlap(sql, c, webhook.id),
    listNotices(sql, viewer.session.eshopId, { webhookId: webhook.id, limit: 10 }),
    webhook.asymmetric ? api.get(SigningKeys, SIGNING_KEYS) : [],
  ]);
  const { deliveriesFrom } = eshop;
  const page = { webhook, policy, overlapUntil, sent, deliveries, recoveries, deliveriesFrom, signingKeys };
  return { ...page, accepted: accepted.get(webhook.id) };
}

export interface WebhookPageProps extends Awaited<ReturnType<typeof readWebhook>> {
  /** Shown once. */
  readonly secret?: string | undefined;
  readonly testResult?: TestDeliveryResult | undefined;
  readonly notice?: string | undefined;
  readonly refused?: Rejection | undefined;
}

/** The actions, most useful first. @param tested the type that was tested before */
function Actions({ webhook, tested }: { webhook: WebhookRecord; tested: string | undefined }) {
  const { id, active, pausedUntil, lastDeactivation } = webhook;
  const path = `/webhooks/${id}`;
  const link = (to: string, name: string, kind = '') => (
    <a class={`button ${kind}`} href={`${CONSOLE}${path}/${to}`}>
      {name}
    </a>
  );
  const isHealthy = active && !needsAttention(webhook);
  const lost = active && lastDeactivation !== null && lastDeactivation.reason !== 'user';
  return (
    <div class="actions">
      {active ? null : (
        <ActionButton action={`${path}/activate`} kind="main">
          Activate
        </ActionButton>
      )}
      {pausedUntil === null ? null : (
        <ActionButton action={`${path}/resume`} kind="main">
          Resume
        </ActionButton>
      )}
      {lost ? link('recover', 'Recover', 'main') : null}
      <ActionButton
        action={`${path}/test`}
        kind={isHealthy && pausedUntil === null && !lost ? 'main' : 'plain'}
        choice={<TypeChoice types={typesOf(webhook)} value={tested} />}
      >
        Send a test
      </ActionButton>
      {link('examine', 'Examine')}
      {lost ? null : link('recover', 'Recover')}
      {link('edit', 'Edit')}
      {link('rotate', 'Regenerate secret')}
      {active ? link('pause', pausedUntil === null ? 'Pause' : 'Change pause end') : null}
      {active ? link('deactivate', 'Deactivate') : null}
      {link('delete', 'Delete', 'danger')}
    </div>
  );
}

export function WebhookPage(props: WebhookPageProps) {
  const { webhook, policy, accepted, deliveries, recoveries, sent, overlapUntil } = props;
  const { secret, testResult, notice, refused } = props;
  const { addresses, userAgent } = props.deliveriesFrom;
  const { id, url, method, headers } = webhook;
  const types = typesOf(webhook);
  const typeLines = types.map((type) => (
    <div>
      <TypeName type={type} /> <span class="quiet small">{eventTypes[type].firesWhen}</span>
    </div>
  ));
  const name = nameOf(webhook);
  const names = namesOf([webhook]);
  const path = `/webhooks/${id}`;
  return (
    <Page title={name} here="/webhooks" {...{ notice, refused, names }}>
      <Live id="health" path={`${CONSOLE}${path}`} also={['latest', 'recovered']}>
        <div class="stack">
          <div class="top">
            <div>
              <h1>
                {name} <span class="quiet">#{id}</span>
              </h1>
              <p class="quiet wrap">
                {method} {url}
              </p>
            </div>
            <Health webhook={webhook} />
          </div>
          <Paused {...{ webhook, policy }} />
          <Trouble webhook={webhook} />
        </div>
      </Live>
      <Actions webhook={webhook} tested={testResult?.request.headers['x-service-event']} />
      <Overlap until={overlapUntil} />
      {secret === undefined ? null : (
        <NewSecret secret={secret} use="Your receiver verifies signatures with it." />
      )}
      {testResult === undefined ? null : <TestResultCard result={testResult} />}
      <Card id="about" title="About">
        <div class="wide">
          <Facts
            facts={[
              [types.length === 1 ? 'Type' : 'Types', typeLines],
              ...factsOf(webhook, headers === null ? null : Object.keys(headers)),
              ['Source addresses', addresses.length === 0 ? null : addresses.join(', ')],
              ['User-Agent', userAgent],
              ['Registered', <Time at={webhook.registeredAt} />],
              ['Last success', accepted === undefined ? 'none yet' : <Ago at={accepted} />],
            ]}
          />
        </div>
      </Card>
      {webhook.asymmetric ? <PublicKeys id={id} keys={props.signingKeys} /> : null}
      <TemporalLinkList about={{ webhookId: id }} />
      <div id="latest">
        <Card id="deliveries" title="Latest deliveries" flush>
          {deliveries.length === 0 ? (
            <Empty title="No deliveries yet">
              The first one is made when {types.map((type) => eventTypes[type].firesWhen).join(', or ')}.
              Tests are not listed here.
            </Empty>
          ) : (
            <>
              <DeliveryRows deliveries={deliveries} />
              <p class="pages">
                <a href={`${CONSOLE}/deliveries?webhookId=${id}`}>All deliveries of this webhook</a>
              </p>
            </>
          )}
        </Card>
      </div>
      <div id="recovered">
        {recoveries.length === 0 ? null : <Recoveries {...{ recoveries, webhook }} />}
        {sent.length === 0 ? null : (
          <Card id="sent" title="Notices" flush>
            <NoticeRows notices={sent} names={names} />
          </Card>
        )}
      </div>
    </Page>
  );
}
