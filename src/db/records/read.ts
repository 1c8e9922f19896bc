import { assertListSize, MAX_FULL_RECORDS } from '../../domain/record-size.ts';
import type { Sql } from '../connection/pool.ts';
import { selected } from './columns.ts';
import type { TableMapping } from './table-mapping.ts';

export async function readRecord<Rec extends object>(
  sql: Sql,
  mapping: TableMapping<Rec>,
  eshopId: number,
  id: string | number,
): Promise<Rec | null> {
  const { entry, table } = mapping;
  const [record] = await sql<Rec[]>`
    select ${selected(sql, mapping)} from ${sql(table)} t
    where t.eshop_id = ${eshopId} and t.${sql(entry.idField)} = ${id}`;
  return record === undefined ? null : { ...record };
}

/** The filter of a list: a value for a column, or the earliest time (ISO 8601, inclusive). */
type ListFilter = Readonly<Record<string, string | boolean | undefined>>;

/** Names in a filter that are not columns, each with the column that must be at least as late. */
const SINCE: ReadonlyMap<string, string> = new Map([
  ['since', 'createdAt'],
  ['createdSince', 'createdAt'],
  ['updatedSince', 'updatedAt'],
]);

/** Rows read at once: no more of the largest records than fit in one response. */
const SLICE = MAX_FULL_RECORDS;

/** A page of the records that pass the filter, oldest first. @throws Problem 400 if too large for one response */
export async function listRecords<Rec extends object>(
  sql: Sql,
  mapping: TableMapping<Rec>,
  eshopId: number,
  filter: ListFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly records: readonly Rec[]; readonly totalCount: number }> {
  const table = sql(mapping.table);
  const where = Object.entries(filter).reduce((all, [name, value]) => {
    if (value === undefined) return all;
    const since = SINCE.get(name);
    return since === undefined
      ? sql`${all} and t.${sql(name)} = ${value}`
      : sql`${all} and t.${sql(since)} >= ${value}`;
  }, sql`where t.eshop_id = ${eshopId}`);
  const slice = (from: number) => sql<Rec[]>`
    select ${selected(sql, mapping)} from ${table} t ${where}
    order by t.created_at, t.${sql(mapping.entry.idField)} limit ${Math.min(SLICE, limit - from)} offset ${offset + from}`;
  const [first, counted] = await Promise.all([
    slice(0),
    sql<{ total: string }[]>`select count(*) as total from ${table} t ${where}`,
  ]);
  const records: Rec[] = [...first];
  const mayBeMore = (read: readonly Rec[]) => read.length === SLICE && records.length < limit;
  let bytes = mayBeMore(first) ? bytesOf(first) : 0;
  for (let last: readonly Rec[] = first; mayBeMore(last); ) {
    last = await slice(records.length);
    records.push(...last);
    bytes += bytesOf(last);
    assertListSize(bytes);
  }
  return { records, totalCount: Number(counted[0]?.total ?? 0) };
}

/** Their size as JSON, roughly. Record by record: the text of all at once would itself be large. */
function bytesOf(records: readonly object[]): number {
  return records.reduce((sum, record) => sum + Buffer.byteLength(JSON.stringify(record)), 0);
}
