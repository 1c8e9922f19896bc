/** One event: what became of it at every webhook, and the record after it. */
import type * as v from 'valibot';
import type { EventWithRecord } from '../../api/event-schemas.ts';
import { eventTypes } from '../../domain/event-types.ts';
import { Page } from '../layout.tsx';
import { Card, Code, Facts, recordPath, Table, TypeName } from '../parts.tsx';
import { Sentence } from '../sentence.tsx';
import { Time } from '../times.tsx';
import { WebhookLink, type WebhookNames } from '../webhooks/name.tsx';
import { EVENTS } from './list.tsx';
import { byUrgency, type Outcome, OutcomeBadge } from './outcomes.tsx';

/** Causes whose badge says everything. */
const PLAIN: ReadonlySet<Outcome['cause']> = new Set(['inactive', 'notKept', 'stockOnly', 'ownChange']);

/** What the state does not say. */
function detailOf({ webhookId, state, lastError, cause, reason }: Outcome): string | null {
  if (state === 'delivered' || PLAIN.has(cause)) return null;
  return reason?.replace(`Webhook ${webhookId} `, '') ?? lastError;
}

export function EventPage(props: { event: v.InferOutput<typeof EventWithRecord>; names: WebhookNames }) {
  const { event, names } = props;
  const { id, webhookType, entityId, origin, changed, createdAt, webhooks, reason, record } = event;
  return (
    <Page title={`Event ${webhookType} ${entityId}`} here={EVENTS}>
      <div class="top">
        <div>
          <h1>
            <TypeName type={webhookType} /> {entityId}
          </h1>
          <p class="quiet">Fires when {eventTypes[webhookType].firesWhen}.</p>
        </div>
      </div>
      <Card id="outcome" title="Outcome">
        {webhooks.length === 0 ? (
          <p>
            <Sentence text={reason ?? ''} />
          </p>
        ) : (
          <Table named="Outcome, as a table" columns={['Webhook', 'State', 'Why']}>
            {byUrgency(webhooks).map((outcome) => (
              <tr>
                <th scope="row">
                  <WebhookLink id={outcome.webhookId} names={names} />
                </th>
                <td>
                  <OutcomeBadge outcome={outcome} />
                </td>
                <td class="quiet wrap">
                  <Sentence text={detailOf(outcome) ?? ''} names={names} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Card>
      <Card id="about" title="About">
        <Facts
          facts={[
            ['Record', <a href={recordPath(webhookType, entityId)}>{entityId}</a>],
            ['Happened', <Time at={createdAt} />],
            ['Changed by', origin],
            ['Changed fields', changed === null ? null : changed.replaceAll(',', ', ')],
            ['Event', <code>{id}</code>],
          ]}
        />
      </Card>
      <Card id="record" title="Record after the event">
        <Code text={JSON.stringify(record, null, 2)} named="Record" />
      </Card>
    </Page>
  );
}
