/**
 * The life of a record, the same for every kind: created in one transaction, changed under a lock of its row, with what
 * follows from it.
 * @module
 */
import { idOf } from '../../domain/catalogue.ts';
import { conflict, recordNotFound } from '../../domain/problem.ts';
import { capital } from '../../domain/words.ts';
import { recordChange } from '../outbox/events.ts';
import type { Transaction } from '../transaction.ts';
import { lineRowsOf, rowOf } from './columns.ts';
import type { Family, Written } from './family.ts';
import { readRecord } from './read.ts';

/**
 * A pure change of a record.
 * @param now the time of the whole change, by the database's clock, taken under the lock
 * @throws Problem with which it refuses; nothing is written then
 */
export type Change<Rec> = (before: Rec, now: Date) => Rec;

/** True when a pure change left something as it was. */
export function unchanged(before: object, after: object): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
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
  const { entry, table } = family;
  const inserted = await tx`
    insert into ${tx(table)} ${tx({ eshopId, ...rowOf(tx, family, record) })}
    on conflict (eshop_id, ${tx(entry.idField)}) do nothing returning eshop_id`;
  if (inserted.length === 0) throw conflict(`${capital(entry.noun)} ${idOf(entry, record)} already exists.`);
  await insertLines(tx, family, eshopId, record);
  return follow(tx, family, { eshopId, before: null, after: record });
}

/**
 * Applies a pure change to a record under its row lock; fires what the comparison of before and after says, which is
 * nothing when nothing changed.
 * @throws Problem 404 when there is no such record, and what the change and its effects throw
 */
export async function changeRecord<Rec extends object>(
  tx: Transaction,
  family: Family<Rec>,
  eshopId: number,
  id: string,
  change: Change<Rec>,
): Promise<Rec> {
  const { entry, table, lines } = family;
  const own = tx`eshop_id = ${eshopId} and ${tx(entry.idField)} = ${id}`;
  // The time is the one at which the lock was got: the outer query is asked only for the row that the inner one found.
  const lock = tx<{ now: Date }[]>`
    select clock_timestamp() as now from (select from ${tx(table)} where ${own} for no key update) locked`;
  // Sent now, and so before the reading, which does not wait for its answer: what is read is as new as the lock.
  void lock.execute();
  const [[locked], before] = await Promise.all([lock, readRecord(tx, family, eshopId, id)]);
  if (locked === undefined || before === null) throw recordNotFound(entry.noun, id);
  const { now } = locked;
  const changed = change(before, now);
  if (unchanged(before, changed)) return before;
  const after = 'updatedAt' in changed ? { ...changed, updatedAt: now.toISOString() } : changed;
  await tx`update ${tx(table)} set ${tx({ ...rowOf(tx, family, after), updatedAt: now })} where ${own}`;
  if (lines !== undefined && !unchanged(lines.of(before), lines.of(after))) {
    await tx`delete from ${tx(lines.table)} where ${own}`;
    await insertLines(tx, family, eshopId, after);
  }
  return follow(tx, family, { eshopId, before, after });
}

async function insertLines<Rec extends object>(
  tx: Transaction,
  family: Family<Rec>,
  eshopId: number,
  record: Rec,
): Promise<void> {
  const { entry, lines } = family;
  if (lines === undefined) return;
  const key = { eshopId, [entry.idField]: idOf(entry, record) };
  const rows = lineRowsOf(tx, family, record).map((row) => ({ ...key, ...row }));
  await tx`insert into ${tx(lines.table)} ${tx(rows)}`;
}

/** What follows from a write: effects first, so that the event is the last word. */
async function follow<Rec extends object>(
  tx: Transaction,
  { entry, effects }: Family<Rec>,
  written: Written<Rec>,
): Promise<Rec> {
  await effects?.(tx, written);
  await recordChange(tx, entry, written);
  return written.after;
}
