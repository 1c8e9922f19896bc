/** The health of a webhook. */
import { duration } from '../../domain/duration.ts';
import { shortTypes } from '../../domain/event-types.ts';
import type { RetryPolicy } from '../../domain/retry-policy.ts';
import type { WebhookRecord } from '../../domain/webhook.ts';
import {
  stateOf as stateBy,
  type WebhookState,
  webhookStates,
  whyDeactivated,
} from '../../domain/webhook-facts.ts';
import { nameOf } from '../../domain/webhook-name.ts';
import { typesOf } from '../../domain/webhook-types.ts';
import { Badge, type Tone } from '../badges.tsx';
import { CONSOLE } from '../session.ts';
import { Ago, Time } from '../times.tsx';

const TONES: Readonly<Record<WebhookState, Tone>> = {
  failing: 'bad',
  deactivated: 'bad',
  paused: 'calm',
  inactive: 'calm',
  active: 'good',
};

export function stateOf(
  webhook: Pick<WebhookRecord, 'active' | 'incident' | 'pausedUntil' | 'lastDeactivation'>,
): WebhookState {
  const { active, incident, pausedUntil, lastDeactivation } = webhook;
  const reason = lastDeactivation?.reason ?? null;
  return stateBy({ active, isFailing: incident !== null, isPaused: pausedUntil !== null, reason });
}

export function needsAttention(webhook: WebhookRecord): boolean {
  return TONES[stateOf(webhook)] === 'bad';
}

/** Webhooks that need attention come first. */
export function byUrgency(webhooks: readonly WebhookRecord[]): WebhookRecord[] {
  const urgency = (webhook: WebhookRecord) => webhookStates.indexOf(stateOf(webhook));
  return webhooks.toSorted((a, b) => urgency(a) - urgency(b));
}

export function Health({ webhook }: { webhook: WebhookRecord }) {
  const state = stateOf(webhook);
  return <Badge tone={TONES[state]}>{state}</Badge>;
}

/** The problems of a webhook, if any, in sentences. */
export function Trouble({ webhook }: { webhook: WebhookRecord }) {
  const { active, incident, lastDeactivation } = webhook;
  if (incident !== null) {
    const { since, failures, lastError, deactivationAt } = incident;
    return (
      <div class="note warn">
        <p>
          <strong>
            Started failing <Ago at={since} />
          </strong>
          : {failures} failed {failures === 1 ? 'attempt' : 'attempts'}
          {lastError === null ? '.' : `, the last with “${lastError}”.`}
        </p>
        {deactivationAt === null ? null : (
          <p>
            The webhook is deactivated when all retries of a delivery have failed: <Ago at={deactivationAt} />{' '}
            at the earliest.
          </p>
        )}
      </div>
    );
  }
  if (active || lastDeactivation === null) return null;
  const { at, reason, deliveryId, lastError } = lastDeactivation;
  return (
    <div class="note warn">
      <p>
        Deactivated <Ago at={at} />, {whyDeactivated[reason]}
        {lastError === null ? '.' : `: “${lastError}”.`}{' '}
        {deliveryId === null ? null : <a href={`${CONSOLE}/deliveries/${deliveryId}`}>View the delivery</a>}
      </p>
      <p>
        In the meantime, open deliveries are held, and new events are not delivered. Activate it, then recover
        what it missed.
      </p>
    </div>
  );
}

/** When the pause of a webhook ends, if it is paused. */
export function Paused({ webhook, policy }: { webhook: WebhookRecord; policy: RetryPolicy }) {
  const { pausedUntil } = webhook;
  if (pausedUntil === null) return null;
  return (
    <div class="note">
      <p>
        Paused until <Time at={pausedUntil} /> (<Ago at={pausedUntil} />
        ). Deliveries are held, and continue automatically then; the time does not count against their window
        of {duration(policy.windowMs)}.
      </p>
    </div>
  );
}

/** A webhook that needs attention, in a list. @param eshop given if the list covers several e-shops */
export function TroubledWebhook({ webhook, eshop }: { webhook: WebhookRecord; eshop?: string }) {
  return (
    <li class="stack">
      <h3>
        <a href={`${CONSOLE}/webhooks/${webhook.id}`}>{nameOf(webhook)}</a>{' '}
        <span class="quiet">
          {shortTypes(typesOf(webhook))}
          {eshop === undefined ? null : ` of e-shop ${eshop}`}
        </span>
      </h3>
      <Trouble webhook={webhook} />
    </li>
  );
}
