/** Maps fields of a record to columns by the schema of its v2 form: a new field needs one there, and a column. */
import postgres from 'postgres';
import { idOf } from '../../domain/catalogue.ts';
import { type FieldKind, fieldKinds } from '../../domain/record-schema.ts';
import { perKey } from '../../lib/per-key.ts';
import type { Sql } from '../connection/pool.ts';
import { isoTime } from '../sql.ts';
import { sqlText, type TableMapping } from './table-mapping.ts';

type Named = readonly [field: string, column: string];

/** The columns of a kind of record; computed once, since assembling the SQL costs as much as a small query. */
export const columnsOf = perKey(({ entry, lines, computed }: TableMapping<object>) => {
  const schema = entry.recordSchema('v2');
  const fields = fieldKinds(schema);
  const lineFields = lines === undefined ? new Map<string, FieldKind>() : fieldKinds(schema, lines.field);
  const select = (name: string, type: FieldKind) => {
    if (name === lines?.field)
      return sqlText`${linesOf(lines.table, entry.idField, lineFields)} as ${column(name)}`;
    const value =
      computed?.[name] ?? (type === 'timestamp' ? asTimestamp('t', name) : sqlText`t.${column(name)}`);
    return sqlText`${value} as ${column(name)}`;
  };
  const selected = (left?: string) =>
    [...fields].flatMap(([name, type]) => (name === left ? [] : [select(name, type)])).join(', ');
  const elsewhere = new Set([lines?.field, ...Object.keys(computed ?? {})]);
  const withColumnNames = (names: Iterable<string>): Named[] =>
    [...names].map((name) => [name, postgres.fromCamel(name)]);
  const ownColumns = withColumnNames([...fields.keys()].filter((name) => !elsewhere.has(name)));
  const key = postgres.fromCamel(entry.idField);
  const ofLines = withColumnNames(lineFields.keys());
  return {
    /** The select list that reads a whole record, in the form of a record, from a row of the table `t`. */
    selected: selected(),
    /** The same without the lines: thousands of them may belong to one record. */
    selectedHead: selected(lines?.field),
    /** The columns of an insert, in order. */
    columns: ['eshop_id', ...ownColumns.map(([, name]) => name)].map((name) => `"${name}"`).join(', '),
    /** The assignments of an update from rows `x`. */
    assigned: ownColumns
      .filter(([, name]) => name !== key && name !== 'updated_at')
      .map(([, name]) => `"${name}" = x."${name}"`)
      .join(', '),
    /** The columns of an insert of lines, in order. */
    lineColumns: ['eshop_id', key, 'position', ...ofLines.map(([, name]) => name)]
      .map((name) => `"${name}"`)
      .join(', '),
    /** The column of the identifier, in the table and in that of the lines. */
    key,
    own: ownColumns,
    ofLines,
  };
});

/** Names of fields come from the source, never from a request. */
const column = (field: string) => sqlText`"${postgres.fromCamel(field)}"`;

/** A time as in records: UTC with milliseconds. */
const asTimestamp = (table: string, field: string) => isoTime(`${table}.${column(field)}`);

/** The lines of a record as JSON, read in the same statement: a reader never sees one without the other. */
function linesOf(table: string, key: string, fields: ReadonlyMap<string, FieldKind>): string {
  const pairs = [...fields].map(([name, kind]) => {
    const plain = sqlText`p.${column(name)}`;
    const value =
      kind === 'timestamp' ? asTimestamp('p', name) : kind === 'decimal' ? sqlText`${plain}::text` : plain;
    return sqlText`'${name}', ${value}`;
  });
  return sqlText`(
    select coalesce(json_agg(json_build_object(${pairs.join(', ')}) order by p.position), '[]')
    from ${table} p where p.eshop_id = t.eshop_id and p.${column(key)} = t.${column(key)})`;
}

export function selected(sql: Sql, mapping: TableMapping<object>) {
  return sql.unsafe(columnsOf(mapping).selected);
}

/** The values of a row by column name; as JSON, the input of `json_populate_record`. */
export type Row = Readonly<Record<string, unknown>>;

function rowFrom(values: object, names: readonly Named[], row: Record<string, unknown>): Row {
  for (const [field, name] of names) row[name] = Reflect.get(values, field);
  return row;
}

export function rowOf(mapping: TableMapping<object>, eshopId: number, record: object): Row {
  return rowFrom(record, columnsOf(mapping).own, { eshop_id: eshopId });
}

export function lineRows(mapping: TableMapping<object>, eshopId: number, record: object): Row[] {
  const { entry, lines } = mapping;
  if (lines === undefined) return [];
  const { key, ofLines } = columnsOf(mapping);
  const id = idOf(entry, record);
  return lines
    .of(record)
    .map((line, position) => rowFrom(line, ofLines, { eshop_id: eshopId, [key]: id, position }));
}

/** The insert of rows into a table, as SQL. @param columns from {@link columnsOf} */
export function insertRows(sql: Sql, table: string, columns: string, rows: readonly Row[]) {
  return sql`
    insert into ${sql(table)} (${sql.unsafe(columns)})
    select ${sql.unsafe(columns)} from json_populate_recordset(null::${sql(table)}, ${JSON.stringify(rows)}::text::json)`;
}
