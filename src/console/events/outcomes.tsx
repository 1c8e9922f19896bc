/** The outcome of an event at each of its webhooks. */
import type * as v from 'valibot';
import type { Event } from '../../api/event-schemas.ts';
import type { webhookCauses } from '../../domain/absence.ts';
import { Badge, State, TONES, type Tone } from '../badges.tsx';
import { WebhookLink, type WebhookNames } from '../names.tsx';
import { CONSOLE } from '../session.ts';

export type Outcome = v.InferOutput<typeof Event>['webhooks'][number];

/** Why a webhook has no delivery, in a word or two. */
const ABSENT: Readonly<Record<keyof typeof webhookCauses, readonly [Tone, string]>> = {
  retriesExhausted: ['bad', 'was deactivated'],
  gone: ['bad', 'was deactivated'],
  deactivatedByUser: ['calm', 'was inactive'],
  createdInactive: ['calm', 'was inactive'],
  inactive: ['calm', 'was inactive'],
  otherType: ['', 'had other types'],
  stockOnly: ['', 'stock only'],
  ownChange: ['', 'own change'],
  changedMeanwhile: ['', 'was being changed'],
  createdLater: ['', 'did not exist yet'],
  deletedBefore: ['', 'was deleted'],
  deletedSince: ['', 'deleted since'],
  notKept: ['', 'no longer kept'],
};

/** The state of its delivery, which it links to, or why there is none. */
export function OutcomeBadge({ outcome: { deliveryId, state, cause } }: { outcome: Outcome }) {
  if (deliveryId === null || state === null) {
    const [tone, text] = ABSENT[cause ?? 'notKept'];
    return <Badge tone={tone}>{text}</Badge>;
  }
  return (
    <a href={`${CONSOLE}/deliveries/${deliveryId}`} aria-label={`Delivery: ${state}`}>
      <State state={state} />
    </a>
  );
}

/** The states that need attention come first. */
const URGENCY: readonly Tone[] = ['bad', 'warn', 'busy', 'calm', 'good', ''];

export function toneOf({ state, cause }: Outcome): Tone {
  return state === null ? ABSENT[cause ?? 'notKept'][0] : TONES[state];
}

export function byUrgency(outcomes: readonly Outcome[]): Outcome[] {
  const urgency = (outcome: Outcome) => URGENCY.indexOf(toneOf(outcome));
  return outcomes.toSorted((a, b) => urgency(a) - urgency(b));
}

/** The maximum number of outcomes in a row: an event may have many webhooks. */
const MAX_SHOWN = 4;

/** The most urgent ones, on one line. */
export function OutcomeLine({ outcomes, names }: { outcomes: readonly Outcome[]; names: WebhookNames }) {
  const hiddenCount = outcomes.length - MAX_SHOWN;
  return (
    <>
      {byUrgency(outcomes)
        .slice(0, MAX_SHOWN)
        .map((outcome) => (
          <span class="outcome">
            <WebhookLink id={outcome.webhookId} names={names} /> <OutcomeBadge outcome={outcome} />
          </span>
        ))}
      {hiddenCount > 0 ? <span>and {hiddenCount} more</span> : null}
    </>
  );
}
