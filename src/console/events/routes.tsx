/** The pages of events. */
import type { Context } from 'hono';
import * as v from 'valibot';
import { withOutcomes } from '../../api/event-outcomes.ts';
import { EventWithRecord, eventFilter } from '../../api/event-schemas.ts';
import { listUndeliveredEvents } from '../../db/console/undelivered-events.ts';
import { eventTypes } from '../../domain/event-types.ts';
import { dateOf } from '../../domain/timestamp.ts';
import { nonEmpty, piece, type Query, unlessRefused } from '../api-client.ts';
import type { ConsoleApp, ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { Page, respond } from '../layout.tsx';
import { namesIn, Sentence, WebhookLink } from '../names.tsx';
import { Card, Code, Facts, recordPath, Table, TypeName } from '../parts.tsx';
import { fromField, Time } from '../times.tsx';
import { EVENTS, EventList, EventsPage, type FoundEvents, NOT_DELIVERED } from './list.tsx';
import { byUrgency, type Outcome, OutcomeBadge } from './outcomes.tsx';

/** Causes whose badge says everything. */
const PLAIN: ReadonlySet<Outcome['cause']> = new Set(['inactive', 'notKept', 'stockOnly', 'ownChange']);

/** Details that the state does not show. */
function detailOf({ webhookId, state, lastError, cause, reason }: Outcome): string | null {
  if (state === 'delivered' || PLAIN.has(cause)) return null;
  return reason?.replace(`Webhook ${webhookId} `, '') ?? lastError;
}

const FILTERS = ['entityId', 'arrived', 'webhookType', 'since', 'until', 'page'] as const;
const Filter = v.object(eventFilter);
/** The maximum number of rows if the list has no pages. */
const MAX_ROWS = 100;

export function eventRoutes(app: ConsoleApp, { sql }: ConsoleDeps): void {
  /** @throws Problem 400 if a filter is invalid */
  async function search(
    { var: { api, viewer } }: Context<ConsoleEnv>,
    formQuery: Query,
  ): Promise<FoundEvents> {
    const { arrived, ...rest } = formQuery;
    const query = { ...rest, since: fromField(formQuery.since), until: fromField(formQuery.until) };
    const filter = v.safeParse(Filter, nonEmpty(query));
    if (arrived !== NOT_DELIVERED || !filter.success) return await api.list(EventList, '/v21/events', query);
    const { eshopId } = viewer.session;
    const { since, until, ...more } = filter.output;
    const filters = { ...more, since: dateOf(since), until: dateOf(until) };
    const rows = await listUndeliveredEvents(sql, eshopId, filters, MAX_ROWS);
    return { data: await withOutcomes(sql, eshopId, rows) };
  }

  app.get('/events', async (c) => {
    const asked = Object.fromEntries(FILTERS.map((name) => [name, c.req.query(name)?.trim()]));
    const answer = await unlessRefused(search(c, asked));
    const outcomes = answer.found?.data.flatMap(({ webhooks }) => webhooks) ?? [];
    const names = await namesIn(sql, outcomes);
    return respond(c, <EventsPage {...{ asked, names, ...answer }} />, answer.found === null ? 400 : 200);
  });

  app.get('/events/:id', async (c) => {
    const event = await c.var.api.get(EventWithRecord, `/v21/events/${piece(c.req.param('id'))}`);
    const names = await namesIn(sql, event.webhooks);
    const { id, webhookType, entityId, origin, changed, createdAt, webhooks, reason, record } = event;
    return respond(
      c,
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
            <Table label="Outcome, as a table" columns={['Webhook', 'State', 'Why']}>
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
          <Code text={JSON.stringify(record, null, 2)} label="Record" />
        </Card>
      </Page>,
    );
  });
}
