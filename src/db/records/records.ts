/** The records of a kind in a unit of work: locked and read together, written together. */
import { idOf } from '../../domain/catalogue.ts';
import { unchanged } from '../../domain/unchanged.ts';
import { columnsOf, insertRows, lineRows, rowOf, selected } from './columns.ts';
import { Staged } from './staged.ts';
import type { TableMapping } from './table-mapping.ts';
import type { Participant, UnitOfWork } from './unit-of-work.ts';

/** The version of a record: both values rise with its changes, under the lock of its row. */
interface Version {
  /** The sequence of its last event. */
  readonly sequence: number;
  /** The time of its last change: its `updatedAt`, if its kind has one. */
  readonly at: Date;
}

interface Locked<Rec> {
  readonly record: Rec;
  readonly version: Version;
}

export class Records<Rec extends object> implements Participant {
  readonly #work: UnitOfWork;
  readonly #mapping: TableMapping<Rec>;
  readonly #records = new Staged<Locked<Rec> | null>();
  readonly staged = [this.#records];

  constructor(work: UnitOfWork, mapping: TableMapping<Rec>) {
    this.#work = work;
    this.#mapping = mapping;
  }

  /** Locks those of these records that exist, in the order of their identifiers, and reads them. */
  async lock(ids: Iterable<string>): Promise<void> {
    const missingIds = this.#records.missing(ids);
    if (missingIds.length === 0) return;
    const { tx, eshopId } = this.#work;
    const { entry, table } = this.#mapping;
    const own = tx`eshop_id = ${eshopId} and ${tx(entry.idField)} = any(${missingIds}::text[])`;
    // `got` is the time at which the lock was acquired: the outer query is evaluated for rows of the inner one.
    const lock = tx<(Version & { readonly id: string; readonly got: Date })[]>`
      select locked.*, clock_timestamp() as got from (
        select ${tx(entry.idField)} as id, last_sequence::float8 as sequence, updated_at as at
        from ${tx(table)} where ${own} order by ${tx(entry.idField)} for no key update) locked`;
    // Sent now, before the read, which does not wait for its answer: the rows read are as new as the lock.
    void lock.execute();
    const reading = tx<Rec[]>`select ${selected(tx, this.#mapping)} from ${tx(table)} t where ${own}`;
    const [locked, read] = await Promise.all([lock, reading]);
    for (const id of missingIds) this.#records.load(id, null);
    const records = new Map(read.map((record) => [idOf(entry, record), record]));
    for (const { id, sequence, at, got } of locked) {
      this.#work.lockedAt(got);
      const record = records.get(id);
      if (record !== undefined) this.#records.load(id, { record: { ...record }, version: { sequence, at } });
    }
  }

  /** Null if there is none. It must have been locked. */
  get(id: string): Rec | null {
    return this.locked(id)?.record ?? null;
  }

  /** The same, with its version. */
  locked(id: string): Locked<Rec> | null {
    return this.#records.get(id) ?? null;
  }

  set(id: string, record: Rec, version: Version): void {
    this.#records.set(id, { record, version });
  }

  async write(): Promise<void> {
    const { tx, eshopId } = this.#work;
    const { entry, table, lines } = this.#mapping;
    const changed = this.#records.changes().flatMap(({ key, before, after }) => {
      return before == null || after === null ? [] : [{ id: key, before: before.record, after }];
    });
    if (changed.length === 0) return;
    const id = tx(entry.idField);
    const rows = changed.map(({ after: { record, version } }) => ({
      ...rowOf(this.#mapping, eshopId, record),
      updated_at: version.at,
      last_sequence: version.sequence,
    }));
    const relined = changed.filter(
      ({ before, after }) => lines !== undefined && !unchanged(lines.of(before), lines.of(after.record)),
    );
    // The identifiers are repeated: by the join alone the planner may read and hash all records of the e-shop.
    const updated = tx`
      update ${tx(table)} t set ${tx.unsafe(columnsOf(this.#mapping).assigned)},
        updated_at = x.updated_at, last_sequence = x.last_sequence
      from json_populate_recordset(null::${tx(table)}, ${JSON.stringify(rows)}::text::json) x
      where t.eshop_id = ${eshopId} and t.${id} = x.${id} and t.${id} = any(${changed.map((one) => one.id)}::text[])`;
    if (lines === undefined || relined.length === 0) {
      await updated;
      return;
    }
    const newLines = relined.flatMap(({ after }) => lineRows(this.#mapping, eshopId, after.record));
    await Promise.all([
      updated,
      tx`delete from ${tx(lines.table)} where eshop_id = ${eshopId} and ${id} = any(${relined.map((one) => one.id)}::text[])`,
      insertRows(tx, lines.table, columnsOf(this.#mapping).lineColumns, newLines),
    ]);
  }
}
