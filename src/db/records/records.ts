/** The records of a kind in a unit of work: locked and read together, written together. */
import { idOf } from '../../domain/catalogue.ts';
import { unchanged } from '../../domain/unchanged.ts';
import { columnsOf, lineRows, rowOf, selected } from './columns.ts';
import { Staged } from './staged.ts';
import type { TableMapping } from './table-mapping.ts';
import type { Participant, UnitOfWork } from './unit-of-work.ts';

export interface Locked<Rec> {
  readonly record: Rec;
  /** The time of its last change by this unit of work; null before one. */
  readonly changedAt: Date | null;
}

export class Records<Rec extends object> implements Participant {
  readonly #work: UnitOfWork;
  readonly #mapping: TableMapping<Rec>;
  readonly #staged = new Staged<Locked<Rec> | null>();

  constructor(work: UnitOfWork, mapping: TableMapping<Rec>) {
    this.#work = work;
    this.#mapping = mapping;
  }

  /** Locks the records of these identifiers in the order of these, as far as there are any, and reads them. */
  async lock(ids: Iterable<string>): Promise<void> {
    const wanted = this.#staged.missing(ids);
    if (wanted.length === 0) return;
    const { tx, eshopId } = this.#work;
    const { entry, table } = this.#mapping;
    const own = tx`eshop_id = ${eshopId} and ${tx(entry.idField)} = any(${wanted}::text[])`;
    // The time is the one at which the lock was got: the outer query is asked only for rows that the inner one found.
    const lock = tx<{ now: Date | null }[]>`
      select max(got) as now from (
        select clock_timestamp() as got from (
          select from ${tx(table)} where ${own} order by ${tx(entry.idField)} for no key update) locked) locks`;
    // Sent now, and so before the reading, which does not wait for its answer: what is read is as new as the lock.
    void lock.execute();
    const read = tx<Rec[]>`select ${selected(tx, this.#mapping)} from ${tx(table)} t where ${own}`;
    const [[locked], records] = await Promise.all([lock, read]);
    for (const id of wanted) this.#staged.load(id, null);
    for (const record of records)
      this.#staged.load(idOf(entry, record), { record: { ...record }, changedAt: null });
    if (locked?.now != null) this.#work.lockedAt(locked.now);
  }

  /** Null where there is none. It must have been locked. */
  get(id: string): Rec | null {
    return this.#staged.get(id)?.record ?? null;
  }

  /** Stages the record after a change. */
  set(id: string, record: Rec, changedAt: Date): void {
    this.#staged.set(id, { record, changedAt });
  }

  commit(): void {
    this.#staged.commit();
  }

  rollback(): void {
    this.#staged.rollback();
  }

  async write(): Promise<void> {
    const { tx, eshopId } = this.#work;
    const { entry, table, lines } = this.#mapping;
    const changed = this.#staged.changes().flatMap(({ key, before, after }) => {
      return before == null || after === null ? [] : [{ id: key, before: before.record, after }];
    });
    if (changed.length === 0) return;
    const id = tx(entry.idField);
    const rows = changed.map(({ after: { record, changedAt } }) => ({
      ...rowOf(this.#mapping, eshopId, record),
      updated_at: changedAt,
    }));
    const relined = changed.filter(
      ({ before, after }) => lines !== undefined && !unchanged(lines.of(before), lines.of(after.record)),
    );
    const updated = tx`
      update ${tx(table)} t set ${tx.unsafe(columnsOf(this.#mapping).assigned)}, updated_at = x.updated_at
      from json_populate_recordset(null::${tx(table)}, ${JSON.stringify(rows)}::text::json) x
      where t.eshop_id = ${eshopId} and t.${id} = x.${id}`;
    if (lines === undefined || relined.length === 0) {
      await updated;
      return;
    }
    const made = relined.flatMap(({ after }) => lineRows(this.#mapping, eshopId, after.record));
    await Promise.all([
      updated,
      tx`delete from ${tx(lines.table)} where eshop_id = ${eshopId} and ${id} = any(${relined.map((one) => one.id)}::text[])`,
      tx`
        insert into ${tx(lines.table)} (${tx.unsafe(columnsOf(this.#mapping).lineColumns)})
        select ${tx.unsafe(columnsOf(this.#mapping).lineColumns)}
        from json_populate_recordset(null::${tx(lines.table)}, ${JSON.stringify(made)}::text::json)`,
    ]);
  }
}
