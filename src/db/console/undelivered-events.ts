/** Events that no webhook has got. */
import type { Sql } from '../connection/pool.ts';
import { deliveriesOfEvent } from '../deliveries/deliveries-of-events.ts';
import { type EventFilter, type EventRow, selectPage, shownColumns } from '../event-log.ts';
import { limitOf } from '../id-range.ts';

/**
 * How many of the latest events are searched for events that no webhook got. Too low: an event of some minutes ago is
 * missed in a rush. Too high: each view of the page reads that many events with their deliveries.
 */
export const MAX_EVENTS_SEARCHED = 5_000;

/** The newest of the searched events for which no existing webhook got the event, or a newer one instead. */
export function listUndeliveredEvents(sql: Sql, eshopId: number, filter: EventFilter, limit: number) {
  const latest = { limit: MAX_EVENTS_SEARCHED, offset: 0 };
  return sql<EventRow[]>`
    with found as materialized (
      select id from (${selectPage(sql, eshopId, filter, latest)}) f order by id desc ${limitOf(sql, latest)})
    select e.id, ${shownColumns(sql)} from found join events e on e.id = found.id
    where not exists (
      select from (${deliveriesOfEvent(sql, sql`e.id`, sql`d.webhook_id, d.state`)}) d join webhooks w on w.id = d.webhook_id
      where d.state in ('delivered', 'superseded') and w.deleted_at is null)
    order by e.id desc limit ${limit}`;
}
