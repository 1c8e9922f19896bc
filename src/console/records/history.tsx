/** The history of a record as one line, in order: its events, their deliveries, and which of these wait for which. */
import type * as v from 'valibot';
import type { Delivery } from '../../api/deliveries/record.ts';
import type { Event } from '../../api/event-schemas.ts';
import type { Tone } from '../badges.tsx';
import { byUrgency, type Outcome, OutcomeBadge, toneOf } from '../events/outcomes.tsx';
import { Sentence, WebhookLink, type WebhookNames } from '../names.tsx';
import { CONSOLE } from '../session.ts';
import { Due, Time } from '../times.tsx';

type Happened = v.InferOutput<typeof Event>;
type Deliveries = readonly v.InferOutput<typeof Delivery>[];

/** The tone of its most urgent outcome. */
function toneOfEvent({ webhooks }: Happened): Tone {
  const [urgent] = byUrgency(webhooks);
  return urgent === undefined ? '' : toneOf(urgent);
}

/** The delivery that it waits for, or that replaced it; otherwise its reason, if any. */
function Place({ outcome, deliveries }: { outcome: Outcome; deliveries: Deliveries }) {
  const { reason, deliveryId, state, lastError } = outcome;
  const delivery = deliveries.find(({ id }) => id === deliveryId);
  const relatedId = delivery?.supersededBy ?? delivery?.waitsFor?.deliveryId ?? null;
  const number = deliveries.find(({ id }) => id === relatedId)?.sequence;
  if (delivery === undefined || number === undefined) {
    // Without a delivery, the state says why.
    const detail = deliveryId === null || state === 'delivered' ? null : (reason ?? lastError);
    if (detail === null) return null;
    return (
      <span class="wrap quiet">
        <Sentence text={detail} />
      </span>
    );
  }
  const link = <a href={`${CONSOLE}/deliveries/${relatedId}`}>{number}</a>;
  if (delivery.supersededBy !== null) return <span class="quiet">by {link}</span>;
  const next = delivery.waitsFor?.nextAttemptAt ?? null;
  return (
    <span class="quiet">
      waits for {link}
      {next === null ? null : (
        <>
          , next attempt <Due at={next} />
        </>
      )}
    </span>
  );
}

/** @param deliveries the known deliveries of the record; for others an outcome's own words are shown */
export function History(props: { events: readonly Happened[]; deliveries: Deliveries; names: WebhookNames }) {
  const { events, deliveries, names } = props;
  return (
    <ol class="line">
      {events
        .toSorted((a, b) => a.sequence - b.sequence)
        .map((event) => (
          <li class={toneOfEvent(event)}>
            <header>
              <strong>
                {event.sequence} <a href={`${CONSOLE}/events/${event.id}`}>{event.webhookType}</a>
              </strong>
              <Time at={event.createdAt} />
            </header>
            {event.reason === null || event.webhooks.length > 0 ? null : <p class="quiet">{event.reason}</p>}
            {event.webhooks.map((outcome) => (
              <p class="actions">
                <WebhookLink id={outcome.webhookId} names={names} />
                <OutcomeBadge outcome={outcome} />
                <Place outcome={outcome} deliveries={deliveries} />
              </p>
            ))}
          </li>
        ))}
    </ol>
  );
}
