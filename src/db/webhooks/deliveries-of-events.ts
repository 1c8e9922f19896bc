/**
 * Which deliveries an event has. One that was made with the event has an id that begins as the event's does, and is found
 * by that; those that were made later are few, and have indexes of their own.
 * @module
 */
import type { Sql } from '../pool.ts';

/** Whether a delivery `d` was made later than with its event, as SQL: literally as in the indexes. */
export function madeAgain(sql: Sql) {
  return sql`substring(uuid_send(d.id) for 11) <> substring(uuid_send(d.event_id) for 11)`;
}

/** Whether a delivery `d` was made with an event, as SQL. */
export function madeWith(sql: Sql, event: ReturnType<Sql>) {
  return sql`
    d.id >= ${leastOf(sql, event)} and d.id <= (left(${event}::text, 26) || 'ffffffffff')::uuid and d.event_id = ${event}`;
}

/** The least id that a delivery made with an event can have, as SQL. */
export function leastOf(sql: Sql, event: ReturnType<Sql>) {
  return sql`(left(${event}::text, 26) || '0000000000')::uuid`;
}
