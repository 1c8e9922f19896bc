/** Inserts new records of a kind, with their lines, events and deliveries, in one statement. */
import { idOf } from '../../domain/catalogue.ts';
import { createBatcher } from '../batcher.ts';
import type { Pool, Sql } from '../connection/pool.ts';
import {
  type EventText,
  firedEvents,
  firedRows,
  insertDeliveries,
  insertEvents,
  outgoingBytes,
  type WrittenDeliveries,
  withTraceParents,
  writtenDeliveries,
} from '../outbox/events.ts';
import { CLASS } from '../outbox/outbox.ts';
import { isRolledBack } from '../transaction.ts';
import { columnsOf, insertRows, lineRows, type Row, rowOf } from './columns.ts';
import type { TableMapping } from './table-mapping.ts';

interface NewRecord {
  readonly mapping: TableMapping<object>;
  readonly eshopId: number;
  readonly id: string;
  readonly row: Row;
  readonly lines: readonly Row[];
  readonly events: readonly EventText[];
}

export function newRecord(
  mapping: TableMapping<object>,
  eshopId: number,
  record: object,
  events: readonly EventText[],
): NewRecord {
  return {
    mapping,
    eshopId,
    id: idOf(mapping.entry, record),
    row: rowOf(mapping, eshopId, record),
    lines: lineRows(mapping, eshopId, record),
    // Put into the current trace now: the statement may be shared with other requests.
    events: withTraceParents(events),
  };
}

/**
 * Inserts records of one kind and e-shop.
 * @param records at least one, each identifier once
 * @param claims whether this process claims the deliveries
 * @returns `made`: the identifiers of the records that are new
 */
export async function insertRecords(sql: Sql, records: readonly NewRecord[], claims: boolean) {
  const [first] = records;
  if (first === undefined) return { made: new Set<string>(), written: NOTHING };
  const { eshopId, mapping } = first;
  const { columns, lineColumns } = columnsOf(mapping);
  const id = sql(mapping.entry.idField);
  const allLines = records.flatMap(({ lines }) => lines);
  const insertedLines =
    mapping.lines === undefined
      ? sql``
      : sql`lines as (
          ${insertRows(sql, mapping.lines.table, lineColumns, allLines)} where ${id} in (select id from made)),`;
  const rows = records.map(({ row }) => row);
  const events = firedEvents(records.flatMap((record) => record.events));
  const [row] = await sql<(WrittenDeliveries & { made: string[] })[]>`
    with made as (
      ${insertRows(sql, mapping.table, columns, rows)}
      on conflict (eshop_id, ${id}) do nothing returning ${id} as id),
    ${insertedLines}
    fired as materialized (${firedRows(sql, events)} where f.entity_id in (select id from made)),
    recorded as (${insertEvents(sql, eshopId)}),
    delivered as (${insertDeliveries(sql, eshopId, CLASS.fresh, claims)} returning *)
    select array(select id from made) as made, ${writtenDeliveries(sql)}`;
  return { made: new Set(row?.made), written: row ?? NOTHING };
}
const NOTHING: WrittenDeliveries = { deliveries: 0, claimed: [] };

/** The most records in a statement, and roughly the most bytes of events. */
const MAX_STATEMENT_RECORDS = 20;
const MAX_STATEMENT_BYTES = 256 * 1024;

/** Groups that may share a statement: of one kind and e-shop, each identifier once, not too large together. */
function statements(records: readonly NewRecord[]): NewRecord[][] {
  const groups: { key: string; ids: Set<string>; bytes: number; records: NewRecord[] }[] = [];
  for (const record of records) {
    const key = `${record.mapping.table} ${record.eshopId}`;
    const bytes = record.events.reduce((sum, { snapshot }) => sum + snapshot.length, 0);
    const fits = groups.find(
      (group) => group.key === key && !group.ids.has(record.id) && group.bytes + bytes <= MAX_STATEMENT_BYTES,
    );
    const group = fits ?? { key, ids: new Set(), bytes: 0, records: [] };
    if (fits === undefined) groups.push(group);
    group.ids.add(record.id);
    group.bytes += bytes;
    group.records.push(record);
  }
  return groups.map(({ records }) => records);
}

/** Inserts a record, and wakes the relay. @returns false if the e-shop has one with this identifier */
export type Insert = (record: NewRecord) => Promise<boolean>;

/** @returns inserts a record, perhaps together with others of the same moment */
export function createInserter(sql: Pool): Insert {
  /** A statement is a transaction of its own: it needs no BEGIN and COMMIT. */
  async function insert(records: readonly NewRecord[]): Promise<ReadonlySet<string>> {
    const { notifier } = sql;
    const eshopId = records[0]?.eshopId ?? 0;
    const { made, written } = await insertRecords(sql, records, notifier.hasRoom());
    const { deliveries, claimed } = written;
    if (deliveries > 0) notifier.notify(deliveries > claimed.length ? ['fresh'] : [], claimed);
    const events = records.flatMap((record) => record.events);
    notifier.outgoing(eshopId, outgoingBytes(events, deliveries));
    return made;
  }
  return createBatcher<NewRecord, boolean>(MAX_STATEMENT_RECORDS, (records) => {
    const inserted = new Map<NewRecord, Promise<ReadonlySet<string>>>();
    for (const group of statements(records)) {
      const insertion = insert(group);
      for (const record of group) {
        // The error may be due to another record: each is then inserted alone, to get its own error.
        const own = insertion.catch((error: unknown) => {
          if (group.length > 1 && isRolledBack(error)) return insert([record]);
          throw error;
        });
        inserted.set(record, own);
      }
    }
    return records.map(async (record) => (await inserted.get(record))?.has(record.id) === true);
  });
}
