/**
 * Events and deliveries of a chosen time, as rows: ids written by the product contain the present time.
 */
import { randomBytes } from 'node:crypto';
import type { Pool } from '../../../src/db/connection/pool.ts';
import type { StoredState } from '../../../src/domain/delivery-state.ts';
import type { EventType } from '../../../src/domain/event-types.ts';
import { newIdAt } from './weeks.ts';

/** Inserts an event with this time; answers its id. */
export async function insertEventAt(
  sql: Pool,
  at: Date,
  event: { eshopId: number; type?: EventType; entityId?: string },
): Promise<string> {
  const id = newIdAt(at);
  const { eshopId, type = 'CREATE_ORDER', entityId = '10001' } = event;
  await sql`
    insert into events (id, eshop_id, type, entity_id, snapshot, created_at)
    values (${id}, ${eshopId}, ${type}, ${entityId}, '{}', ${at})`;
  return id;
}

/**
 * Inserts a delivery of an event; answers its id.
 * @param again the time of its creation, if later than its event's
 */
export async function insertDeliveryOf(
  sql: Pool,
  eventId: string,
  delivery: { webhookId: number; state?: StoredState; again?: Date },
): Promise<string> {
  const { webhookId, state = 'pending', again } = delivery;
  const id = again === undefined ? eventId.slice(0, 26) + randomBytes(5).toString('hex') : newIdAt(again);
  await sql`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state, created_at)
    select ${id}, id, eshop_id, ${webhookId}, type, entity_id, ${state}, ${again ?? sql`created_at`}
    from events where id = ${eventId}`;
  if (again !== undefined) {
    await sql`
      insert into redeliveries (delivery_id, event_id, eshop_id, webhook_id, entity_id)
      select id, event_id, eshop_id, webhook_id, entity_id from deliveries where id = ${id}`;
  }
  return id;
}
