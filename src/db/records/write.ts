/** The life of a record, the same for every kind: created in one transaction, changed under a lock of its row. */
import { idOf } from '../../domain/catalogue.ts';
import { changedFields } from '../../domain/changed-fields.ts';
import { type EventType, eventTypes } from '../../domain/event-types.ts';
import { eventsOf } from '../../domain/fired-events.ts';
import type { Origin } from '../../domain/origin.ts';
import { conflict, type Problem, recordNotFound } from '../../domain/problem.ts';
import { assertRecordSize } from '../../domain/record-size.ts';
import { capital } from '../../domain/text.ts';
import { unchanged } from '../../domain/unchanged.ts';
import { type EventText, recordWrittenDeliveries } from '../outbox/events.ts';
import { type Database, type Transaction, transaction } from '../transaction.ts';
import type { EntityMapping } from './entity-mapping.ts';
import { type Insert, insertRecords, newRecord } from './insert.ts';
import { inUnitOfWork, type UnitOfWork } from './unit-of-work.ts';

/**
 * A pure change to a record.
 * @param now the time of the whole change, by the database's clock, taken under the lock
 * @throws Problem if it refuses; nothing is written then
 */
export type Change<Rec> = (before: Rec, now: Date) => Rec;

/**
 * Creates a record, completely or not at all; fires CREATE_<KIND>.
 * @param insert used if one statement can do it all
 * @throws Problem 409 if the e-shop has one with this identifier
 */
export async function create<Rec extends object>(
  sql: Database,
  insert: Insert,
  mapping: EntityMapping<Rec>,
  eshopId: number,
  origin: Origin,
  record: Rec,
): Promise<Rec> {
  if ('savepoint' in sql || mapping.sideEffects?.due({ before: null, after: record }) === true)
    return transaction(sql, (tx) => createRecord(tx, mapping, eshopId, origin, record));
  if (!(await insert(newRowOf(mapping, eshopId, origin, record)))) throw alreadyExists(mapping, record);
  return record;
}

/** The same within a transaction. */
export async function createRecord<Rec extends object>(
  tx: Transaction,
  mapping: EntityMapping<Rec>,
  eshopId: number,
  origin: Origin,
  record: Rec,
): Promise<Rec> {
  const row = newRowOf(mapping, eshopId, origin, record);
  const { made, written } = await insertRecords(tx, [row], tx.claims());
  if (made.size === 0) throw alreadyExists(mapping, record);
  recordWrittenDeliveries(tx, eshopId, row.events, written);
  const change = { before: null, after: record };
  if (mapping.sideEffects?.due(change) === true)
    await inUnitOfWork(tx, eshopId, origin, async (work) => mapping.sideEffects?.stage(work, change));
  return record;
}

function newRowOf(mapping: EntityMapping<object>, eshopId: number, origin: Origin, record: object) {
  const types = eventsOf(mapping.entry, null, record);
  const at = 'updatedAt' in record && typeof record.updatedAt === 'string' ? record.updatedAt : null;
  const events = eventTexts(mapping, record, types, { sequence: 0, at, origin, changed: null });
  return newRecord(mapping, eshopId, record, events);
}

function alreadyExists({ entry }: EntityMapping<object>, record: object): Problem {
  return conflict(`${capital(entry.noun)} ${idOf(entry, record)} already exists.`);
}

/**
 * Applies a pure change under the row's lock; fires the events that follow from comparing before and after.
 * @throws Problem 404 if there is no such record, and the errors of the change and its effects
 */
export function changeRecord<Rec extends object>(
  tx: Transaction,
  mapping: EntityMapping<Rec>,
  eshopId: number,
  origin: Origin,
  id: string,
  change: Change<Rec>,
): Promise<Rec> {
  return inUnitOfWork(tx, eshopId, origin, (work) => stageChange(work, mapping, id, change));
}

/** The same within a unit of work. */
export async function stageChange<Rec extends object>(
  work: UnitOfWork,
  mapping: EntityMapping<Rec>,
  id: string,
  change: Change<Rec>,
): Promise<Rec> {
  const { entry, sideEffects } = mapping;
  const records = mapping.records(work);
  await records.lock([id]);
  const locked = records.locked(id);
  if (locked === null) throw recordNotFound(entry.noun, id);
  const { record: before, version } = locked;
  const now = monotonicTime(work.now, version.at);
  const changed = change(before, now);
  if (unchanged(before, changed)) {
    work.unchanged({ kind: entry.kind, entityId: id, at: now });
    return before;
  }
  const after = 'updatedAt' in changed ? { ...changed, updatedAt: now.toISOString() } : changed;
  const types = eventsOf(entry, before, after);
  records.set(id, after, { sequence: version.sequence + types.length, at: now });
  // Effects first, so that the record's own event comes last.
  const written = { before, after };
  if (sideEffects?.due(written) === true) await sideEffects.stage(work, written);
  const happened = {
    sequence: version.sequence,
    at: now.toISOString(),
    origin: work.origin,
    changed: changedFields(before, after),
  };
  for (const event of eventTexts(mapping, after, types, happened))
    work.addEvent(() => event, event.snapshot.length);
  return after;
}

/**
 * The time of a change, in milliseconds as the API shows it: later than that of the change before, even if several
 * lines of an import change a record under one lock, or the clock was set back.
 */
export function monotonicTime(now: Date, last: Date): Date {
  return new Date(Math.max(now.getTime(), last.getTime() + 1));
}

/**
 * The texts of the events that a write fires.
 * @param written `sequence`: the record's before the write; `at`: its time, null if the database sets it;
 *   `changed`: null for a creation
 * @throws Problem 400 if the record has become too large
 */
function eventTexts(
  { entry }: EntityMapping<object>,
  after: object,
  types: readonly EventType[],
  written: Pick<EventText, 'sequence' | 'origin' | 'changed'> & { readonly at: string | null },
): EventText[] {
  if (types.length === 0) return [];
  const { sequence, at, ...made } = written;
  const snapshot = JSON.stringify(after);
  // Even with other changes, such as a note: no write of the e-shop changes a status together with other fields.
  const movesStatus = types.some((type) => eventTypes[type].on === 'statusChanged');
  assertRecordSize(entry.noun, snapshot, movesStatus);
  const entityId = idOf(entry, after);
  return types.map((type, index) => ({
    type,
    entityId,
    sequence: sequence + index + 1,
    happenedAt: at,
    snapshot,
    ...made,
  }));
}
