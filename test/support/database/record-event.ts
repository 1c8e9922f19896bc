/** Writes an event alone, without the change that it reports. */
import { type EventText, type NewEvent, recordEvents } from '../../../src/db/outbox/events.ts';
import type { Transaction } from '../../../src/db/transaction.ts';

/** Writes an event and its deliveries; by default its origin is the service, it is its record's first, no update. */
export function recordEvent(
  tx: Transaction,
  {
    eshopId,
    type,
    entityId,
    record,
    sequence = 1,
    origin = 'service',
    changed = null,
  }: NewEvent & Partial<Pick<EventText, 'sequence' | 'origin' | 'changed'>>,
): Promise<void> {
  const snapshot = JSON.stringify(record);
  return recordEvents(tx, eshopId, [
    { type, entityId, sequence, happenedAt: null, snapshot, origin, changed },
  ]);
}
