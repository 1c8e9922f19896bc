/**
 * The life of a record, the same for every kind: created in one transaction, changed under a lock of its row, with what
 * follows from it.
 */
import { idOf } from '../../domain/catalogue.ts';
import { eventTypes } from '../../domain/event-types.ts';
import { eventsOf } from '../../domain/fired-events.ts';
import { conflict, type Problem, recordNotFound } from '../../domain/problem.ts';
import { assertRecordSize } from '../../domain/record-size.ts';
import { unchangedRecord } from '../../domain/unchanged.ts';
import { capital } from '../../domain/words.ts';
import { type EventText, owesDeliveries } from '../outbox/events.ts';
import type { Pool } from '../pool.ts';
import { type Transaction, transaction } from '../transaction.ts';
import type { Family, Written } from './family.ts';
import { insertAlone, insertRecords, type NewRecord, newRecord } from './insert.ts';
import { type Work, workOf } from './work.ts';

/**
 * A pure change of a record.
 * @param now the time of the whole change, by the database's clock, taken under the lock
 * @throws Problem with which it refuses; nothing is written then
 */
export type Change<Rec> = (before: Rec, now: Date) => Rec;

/**
 * Creates a record, whole or not at all; fires CREATE_<KIND>.
 * @throws Problem 409 when the e-shop has one of this identifier
 */
export async function create<Rec extends object>(
  sql: Pool,
  family: Family<Rec>,
  eshopId: number,
  record: Rec,
): Promise<Rec> {
  if (family.effects?.due({ before: null, after: record }) === true)
    return transaction(sql, (tx) => createRecord(tx, family, eshopId, record));
  if (!(await insertAlone(sql, inserted(family, eshopId, record)))) throw alreadyExists(family, record);
  return record;
}

/**
 * Creates a record; fires CREATE_<KIND>.
 * @throws Problem 409 when the e-shop has one of this identifier
 */
export async function createRecord<Rec extends object>(
  tx: Transaction,
  family: Family<Rec>,
  eshopId: number,
  record: Rec,
): Promise<Rec> {
  const row = inserted(family, eshopId, record);
  const { made, deliveries } = await insertRecords(tx, [row]);
  if (made.size === 0) throw alreadyExists(family, record);
  owesDeliveries(tx, eshopId, row.events, deliveries);
  const written = { before: null, after: record };
  if (family.effects?.due(written) === true)
    await workOf(tx, eshopId, async (work) => family.effects?.stage(work, written));
  return record;
}

function inserted<Rec extends object>(family: Family<Rec>, eshopId: number, record: Rec): NewRecord {
  return newRecord(family, eshopId, record, eventTexts(family, { before: null, after: record }));
}

function alreadyExists<Rec extends object>({ entry }: Family<Rec>, record: Rec): Problem {
  return conflict(`${capital(entry.noun)} ${idOf(entry, record)} already exists.`);
}

/**
 * Applies a pure change to a record under its row lock; fires what the comparison of before and after says, which is
 * nothing when nothing changed.
 * @throws Problem 404 when there is no such record, and what the change and its effects throw
 */
export function changeRecord<Rec extends object>(
  tx: Transaction,
  family: Family<Rec>,
  eshopId: number,
  id: string,
  change: Change<Rec>,
): Promise<Rec> {
  return workOf(tx, eshopId, (work) => stageChange(work, family, id, change));
}

/** The same as a part of a unit of work. */
export async function stageChange<Rec extends object>(
  work: Work,
  family: Family<Rec>,
  id: string,
  change: Change<Rec>,
): Promise<Rec> {
  const { entry, effects } = family;
  const records = family.records(work);
  await records.lock([id]);
  const before = records.get(id);
  if (before === null) throw recordNotFound(entry.noun, id);
  const { now } = work;
  const changed = change(before, now);
  if (unchangedRecord(before, changed)) {
    work.unchanged({ kind: entry.kind, entityId: id, at: now });
    return before;
  }
  const after = 'updatedAt' in changed ? { ...changed, updatedAt: now.toISOString() } : changed;
  records.set(id, after, now);
  // Effects first, so that the event is the last word.
  const written = { before, after };
  if (effects?.due(written) === true) await effects.stage(work, written);
  for (const event of eventTexts(family, written)) work.fire(() => event, event.snapshot.length);
  return after;
}

/**
 * Every event that a write fires.
 * @throws Problem 400 when the record has become too large
 */
function eventTexts<Rec extends object>(
  { entry }: Family<Rec>,
  { before, after }: Written<Rec>,
): EventText[] {
  const types = eventsOf(entry, before, after);
  if (types.length === 0) return [];
  const snapshot = JSON.stringify(after);
  // Whatever else it brings along, such as a note: no write of the e-shop changes a status together with other fields.
  const movesStatus = types.some((type) => eventTypes[type].on === 'statusChanged');
  assertRecordSize(entry.noun, snapshot, movesStatus);
  return types.map((type) => ({ type, entityId: idOf(entry, after), snapshot }));
}
