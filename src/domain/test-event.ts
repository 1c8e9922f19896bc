/** Events that an operator triggers as a test, for records that do not exist (docs/interface.md, E5). */
import { entryOf, idOf, sampleOf } from './catalogue.ts';
import type { EventType } from './event-types.ts';

/** The number of no stock movement: they are numbered from 1. */
const NO_MOVEMENT = 0;

/** @example testRecordOf('CREATE_ORDER', new Date()).entityId; // 'TEST-MIBCPQ4C' */
export function testRecordOf(type: EventType, now: Date): { entityId: string; record: object } {
  const entry = entryOf(type);
  const id =
    entry.kind === 'stockMovement' ? NO_MOVEMENT : `TEST-${now.getTime().toString(36).toUpperCase()}`;
  const record = { ...sampleOf(type), [entry.idField]: id };
  return { entityId: idOf(entry, record), record };
}
