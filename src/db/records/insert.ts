/** Inserts new records of a kind, with their lines, events and deliveries, in one statement. */
import { idOf } from '../../domain/catalogue.ts';
import type { Pool, Sql } from '../connection/pool.ts';
import { grouped } from '../grouped.ts';
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

/** The most bytes of events in a statement, roughly, and how many a record counts at least. */
const MAX_STATEMENT_BYTES = 256 * 1024;
const MIN_RECORD_BYTES = MAX_STATEMENT_BYTES / 20;

/** Inserts a record, and wakes the relay. @returns false if the e-shop has one with this identifier */
export type Insert = (record: NewRecord) => Promise<boolean>;

/** @returns inserts a record of one kind, perhaps together with others of its e-shop */
export function createInserter(sql: Pool): Insert {
  const inserts = new Map<number, Insert>();
  return (record) => {
    const insert = inserts.get(record.eshopId) ?? inserterOf(sql, record.eshopId);
    inserts.set(record.eshopId, insert);
    return insert(record);
  };
}

function inserterOf(sql: Pool, eshopId: number): Insert {
  const { notifier } = sql;
  /** A statement is a transaction of its own: it needs no BEGIN and COMMIT. */
  async function insert(asked: readonly NewRecord[]) {
    const records = asked.filter(({ id }, index) => asked.findIndex((other) => other.id === id) === index);
    const { made, written } = await insertRecords(sql, records, notifier.hasRoom());
    const { deliveries, claimed } = written;
    if (deliveries > 0) notifier.notify(deliveries > claimed.length ? ['fresh'] : [], claimed);
    const events = records.flatMap((record) => record.events);
    notifier.outgoing(eshopId, outgoingBytes(events, deliveries));
    return (record: NewRecord) => records.includes(record) && made.has(record.id);
  }
  // Under light load a creation that waited for another would take twice as long.
  return grouped(MAX_STATEMENT_BYTES, insert, { waitsMs: 0, sizeOf: bytesOf });
}

const bytesOf = ({ events }: NewRecord) => Math.max(MIN_RECORD_BYTES, outgoingBytes(events, events.length));
