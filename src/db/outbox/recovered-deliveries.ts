/**
 * Deliveries that a recovery creates: new ones, of events that were there before. They wait in a queue of their own, which
 * is served when nothing fresh waits.
 * @module
 */
import { v7 as uuidv7 } from 'uuid';
import type { EventType } from '../../domain/event-types.ts';
import type { Sql } from '../pool.ts';
import { type Transaction, wakeRelayAfter } from '../transaction.ts';

/** For whom they are created. */
export interface RecoveredFor {
  readonly recoveryId: string;
  readonly eshopId: number;
  readonly webhookId: number;
}

/**
 * Creates a delivery of each event, unless this recovery has created one before, or somebody has asked for the event in the
 * meantime: whoever does holds the lock on it.
 * @returns how many were created
 */
export async function createRecoveredDeliveries(
  tx: Transaction,
  { recoveryId, eshopId, webhookId }: RecoveredFor,
  events: readonly { readonly id: string; readonly type: EventType; readonly entityId: string }[],
): Promise<number> {
  if (events.length === 0) return 0;
  await tx`
    select from events where id = any(${events.map(({ id }) => id)}::uuid[]) order by id for no key update`;
  const rows = events.map(({ id, type, entityId }) => ({ id: uuidv7(), eventId: id, type, entityId }));
  const created = await tx`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, recovery_id)
    select r.id, r."eventId", ${eshopId}, ${webhookId}, r.type, r."entityId", ${recoveryId}::uuid
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (id uuid, "eventId" uuid, type text, "entityId" text)
    where not exists (
      select from deliveries d where d.event_id = r."eventId" and d.webhook_id = ${webhookId}
        and d.state in ('pending', 'retrying', 'delivered'))
    order by r.id
    on conflict (recovery_id, event_id) where recovery_id is not null do nothing`;
  if (created.count > 0) wakeRelayAfter(tx);
  return created.count;
}

/** Whether any of them wait to be handed over. */
export async function areRecoveredQueued(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select from deliveries
    where dispatched_at is null and handed_back_at is null and recovery_id is not null limit 1`;
  return rows.length > 0;
}
