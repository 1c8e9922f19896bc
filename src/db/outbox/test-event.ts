/** A test event: it goes the way of every other, and carries the mark that it is one. */
import type { Pool } from '../pool.ts';
import { transaction, wakeRelayAfter } from '../transaction.ts';
import { fired, firedEvents, happeningHere, insertDeliveries, type NewEvent } from './events.ts';

/** What came of a test event. */
interface TestEvent {
  readonly eventId: string;
  /** At least one. */
  readonly deliveries: readonly { readonly id: string; readonly webhookId: number }[];
}

/**
 * Writes a test event, and a delivery for each webhook that is active and of its type.
 * @returns null, and nothing is written, where there is no such webhook
 */
export async function recordTestEvent(
  sql: Pool,
  { eshopId, type, entityId, record }: NewEvent,
): Promise<TestEvent | null> {
  const event = { type, entityId, sequence: 1, happenedAt: null, snapshot: JSON.stringify(record) };
  return await transaction(sql, async (tx) => {
    const rows = await tx<{ eventId: string; id: string; webhookId: number }[]>`
      with fired as materialized (
        select f.* from (${fired(tx, firedEvents(happeningHere([event])))}) f
        where exists (
          select from webhooks w
          where w.eshop_id = ${eshopId} and w.webhook_type = ${type} and w.active and w.deleted_at is null)),
      recorded as (
        insert into events (id, eshop_id, type, entity_id, sequence, snapshot, test)
        select f.id, ${eshopId}::int, f.type, f.entity_id, f.sequence, f.snapshot::text, true from fired f)
      ${insertDeliveries(tx, eshopId)} returning event_id, id, webhook_id`;
    const [first] = rows;
    if (first === undefined) return null;
    wakeRelayAfter(tx, 'fresh');
    return {
      eventId: first.eventId,
      deliveries: rows.map(({ id, webhookId }) => ({ id, webhookId })),
    };
  });
}
