/** A test event: it is handled like any other event, and is marked as a test. */
import { sampleChangesOf } from '../../domain/catalogue.ts';
import type { Pool } from '../connection/pool.ts';
import { transaction, wakeRelayAfter } from '../transaction.ts';
import { firedEvents, firedRows, insertDeliveries, type NewEvent, withTraceParents } from './events.ts';

/**
 * Writes a test event, and a delivery for each active webhook that has its type.
 * @returns its id and its deliveries; null if there is no such webhook: nothing is written then
 */
export async function recordTestEvent(sql: Pool, { eshopId, type, entityId, record }: NewEvent) {
  const snapshot = JSON.stringify(record);
  const sampleFacts = { origin: 'service', changed: sampleChangesOf(type) } as const;
  const event = { type, entityId, sequence: 1, happenedAt: null, snapshot, ...sampleFacts };
  return await transaction(sql, async (tx) => {
    const rows = await tx<{ eventId: string; id: string; webhookId: number }[]>`
      with fired as materialized (
        select f.* from (${firedRows(tx, firedEvents(withTraceParents([event])))}) f
        where exists (
          select from webhook_types t where t.eshop_id = ${eshopId} and t.type = ${type} and t.subscribed)),
      recorded as (
        insert into events (id, eshop_id, type, entity_id, sequence, snapshot, origin, changed, test)
        select f.id, ${eshopId}::int, f.type, f.entity_id, f.sequence, f.snapshot::text, f.origin, f.changed, true from fired f)
      ${insertDeliveries(tx, eshopId)} returning event_id, id, webhook_id`;
    const [first] = rows;
    if (first === undefined) return null;
    wakeRelayAfter(tx, 'fresh');
    return { eventId: first.eventId, deliveries: rows.map(({ id, webhookId }) => ({ id, webhookId })) };
  });
}
