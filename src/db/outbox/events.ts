/**
 * The transactional outbox: an event and its deliveries are written in the transaction of the write they speak of.
 * @module
 */
import { v7 as uuidv7 } from 'uuid';
import { type CatalogueEntry, idOf } from '../../domain/catalogue.ts';
import { type EventType, eventTypes } from '../../domain/event-types.ts';
import { eventsOf } from '../../domain/fired-events.ts';
import { assertRecordSize } from '../../domain/record-size.ts';
import { type Transaction, wakeRelayAfter } from '../transaction.ts';

/** What happened, to which record. */
export interface NewEvent {
  readonly eshopId: number;
  readonly type: EventType;
  /** The identifier that GET webhooks get appended to their URL. */
  readonly entityId: string;
  /** The record after the write in its v2 form, packing lists included: the snapshot that deliveries carry. */
  readonly record: object;
}

/**
 * Writes the event and one delivery for each webhook of the e-shop that is active and of this type.
 */
export async function recordEvent(tx: Transaction, event: NewEvent): Promise<void> {
  const { eshopId, type, entityId } = event;
  const id = uuidv7();
  // Sent together: inside a transaction the second query does not wait for the first one's answer.
  const [webhooks] = await Promise.all([
    tx<{ id: number }[]>`
      select id from webhooks
      where eshop_id = ${eshopId} and webhook_type = ${type} and active and deleted_at is null
      order by id`,
    tx`
      insert into events (id, eshop_id, type, entity_id, snapshot)
      values (${id}, ${eshopId}, ${type}, ${entityId}, ${JSON.stringify(event.record)})`,
  ]);
  if (webhooks.length === 0) return;
  wakeRelayAfter(tx);
  const deliveries = webhooks.map((webhook) => ({
    id: uuidv7(),
    event_id: id,
    eshop_id: eshopId,
    webhook_id: webhook.id,
    event_type: type,
    entity_id: entityId,
  }));
  await tx`insert into deliveries ${tx(deliveries)}`;
}

/**
 * Records every event that a write fires.
 * @throws Problem 400 when the record has become too large
 */
export async function recordChange(
  tx: Transaction,
  entry: CatalogueEntry,
  {
    eshopId,
    before,
    after,
  }: { readonly eshopId: number; readonly before: object | null; readonly after: object },
): Promise<void> {
  const types = eventsOf(entry, before, after);
  if (types.length > 0) {
    const onlyStatus = types.every((type) => eventTypes[type].on === 'statusChanged');
    assertRecordSize(entry.noun, after, onlyStatus);
  }
  for (const type of types) {
    await recordEvent(tx, { eshopId, type, entityId: idOf(entry, after), record: after });
  }
}
