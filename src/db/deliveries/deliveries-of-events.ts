/** The deliveries of an event. The id of one created with it begins like its id; `redeliveries` lists later ones. */
import type { Sql } from '../connection/pool.ts';

/** The deliveries of an event, as SQL. @param columns of deliveries `d` */
export function deliveriesOfEvent(sql: Sql, event: ReturnType<Sql>, columns: ReturnType<Sql>) {
  return sql`
    select ${columns} from deliveries d where ${createdWithEvent(sql, event)}
    union all
    select ${columns} from redeliveries r join deliveries d on d.id = r.delivery_id where r.event_id = ${event}`;
}

/** The condition that a delivery `d` was created with an event, as SQL. */
export function createdWithEvent(sql: Sql, event: ReturnType<Sql>) {
  return sql`
    d.id >= ${minDeliveryId(sql, event)} and d.id <= (left(${event}::text, 26) || 'ffffffffff')::uuid and d.event_id = ${event}`;
}

/** The lowest id that a delivery created with an event can have, as SQL. */
export function minDeliveryId(sql: Sql, event: ReturnType<Sql>) {
  return sql`(left(${event}::text, 26) || '0000000000')::uuid`;
}
