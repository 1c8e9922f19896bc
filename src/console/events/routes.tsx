/** The pages of events. */
import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { withOutcomes } from '../../api/event-outcomes.ts';
import { EventWithRecord, eventFilter } from '../../api/event-schemas.ts';
import { listUndeliveredEvents } from '../../db/console/undelivered-events.ts';
import { Problem } from '../../domain/problem.ts';
import { dateOf } from '../../domain/timestamp.ts';
import { given, piece, type Query, rejectionOf } from '../api-client.ts';
import type { ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { respond } from '../layout.tsx';
import { fromField } from '../times.tsx';
import { namesIn } from '../webhooks/name.tsx';
import { EventList, EventsPage, type FoundEvents, NOTHING_CAME } from './list.tsx';
import { EventPage } from './page.tsx';

const FILTERS = ['entityId', 'arrived', 'webhookType', 'since', 'until', 'page'] as const;
const Filter = v.object(eventFilter);
/** Rows without pages. */
const MAX_ROWS = 100;

export function eventRoutes({ sql }: Pick<ConsoleDeps, 'sql'>): Hono<ConsoleEnv> {
  const app = new Hono<ConsoleEnv>();

  /** @throws Problem 400 if a filter is invalid */
  async function search({ var: { api, viewer } }: Context<ConsoleEnv>, asked: Query): Promise<FoundEvents> {
    const { arrived, ...rest } = asked;
    const query = { ...rest, since: fromField(asked.since), until: fromField(asked.until) };
    const filter = v.safeParse(Filter, given(query));
    if (arrived !== NOTHING_CAME || !filter.success) return await api.list(EventList, '/v21/events', query);
    const { eshopId } = viewer.session;
    const { since, until, ...more } = filter.output;
    const wanted = { ...more, since: dateOf(since), until: dateOf(until) };
    const rows = await listUndeliveredEvents(sql, eshopId, wanted, MAX_ROWS);
    return { data: await withOutcomes(sql, eshopId, rows) };
  }

  app.get('/events', async (c) => {
    const asked = Object.fromEntries(FILTERS.map((name) => [name, c.req.query(name)?.trim()]));
    try {
      const found = await search(c, asked);
      const names = await namesIn(
        sql,
        found.data.flatMap(({ webhooks }) => webhooks),
      );
      return respond(c, <EventsPage {...{ asked, found, names }} />);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 400) throw error;
      const page = { asked, found: null, names: new Map(), refused: rejectionOf(error) };
      return respond(c, <EventsPage {...page} />, 400);
    }
  });

  app.get('/events/:id', async (c) => {
    const event = await c.var.api.get(EventWithRecord, `/v21/events/${piece(c.req.param('id'))}`);
    const names = await namesIn(sql, event.webhooks);
    return respond(c, <EventPage event={event} names={names} />);
  });
  return app;
}
