/** Writes an event alone, without the change that it reports. */
import { type NewEvent, recordEvents } from '../../src/db/outbox/events.ts';
import type { Transaction } from '../../src/db/transaction.ts';

/** Writes one event and its deliveries. */
export function recordEvent(tx: Transaction, { eshopId, type, entityId, record }: NewEvent): Promise<void> {
  return recordEvents(tx, eshopId, [
    { type, entityId, sequence: 1, happenedAt: null, snapshot: JSON.stringify(record) },
  ]);
}
