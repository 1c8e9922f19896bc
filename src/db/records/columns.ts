/**
 * Between the fields of a record and their columns. Which fields there are, in which order and of which kind, is read
 * from the schema of the record's v2 form: a new field is a field of the schema and a column.
 * @module
 */
import postgres from 'postgres';
import { type FieldKind, fieldKinds } from '../../domain/record-schema.ts';
import { json } from '../json.ts';
import type { Sql } from '../pool.ts';
import { type Family, sqlText } from './family.ts';

interface Columns {
  readonly fields: ReadonlyMap<string, FieldKind>;
  readonly lineFields: ReadonlyMap<string, FieldKind>;
  /** A whole record as one row of the table `t`, in the form that records have: what follows `select`. */
  readonly selected: string;
}
const known = new WeakMap<object, Columns>();

/** The columns of a kind of record; found once, since putting the SQL together costs as much as a small query. */
function columnsOf<Rec extends object>(family: Family<Rec>): Columns {
  const found = known.get(family);
  if (found !== undefined) return found;
  const { entry, lines, computed } = family;
  const schema = entry.recordSchema('v2');
  const fields = fieldKinds(schema);
  const lineFields = lines === undefined ? new Map<string, FieldKind>() : fieldKinds(schema, lines.field);
  const selected = [...fields].map(([name, kind]) => {
    if (name === lines?.field)
      return sqlText`${linesOf(lines.table, entry.idField, lineFields)} as ${column(name)}`;
    const value =
      computed?.[name] ?? (kind === 'timestamp' ? asTimestamp('t', name) : sqlText`t.${column(name)}`);
    return sqlText`${value} as ${column(name)}`;
  });
  const columns = { fields, lineFields, selected: selected.join(', ') };
  known.set(family, columns);
  return columns;
}

/** A field's column. Fields are named in the source, never by a request. */
const column = (field: string) => sqlText`"${postgres.fromCamel(field)}"`;

/** A time as records carry it: UTC with milliseconds. */
const asTimestamp = (table: string, field: string) =>
  sqlText`to_char(${table}.${column(field)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The lines of a record as JSON, in one statement with it: a reader never sees one without the other. */
function linesOf(table: string, key: string, fields: Columns['lineFields']): string {
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

/** What follows `select` for a whole record as one row of the table `t`. */
export function selected<Rec extends object>(sql: Sql, family: Family<Rec>) {
  return sql.unsafe(columnsOf(family).selected);
}

const inColumns = (sql: Sql, record: object, fields: ReadonlyMap<string, FieldKind>) =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      fields.get(name) === 'json' ? json(sql, value) : value,
    ]),
  );

/** The values of a record's own row. */
export function rowOf<Rec extends object>(sql: Sql, family: Family<Rec>, record: Rec) {
  const elsewhere = new Set([family.lines?.field, ...Object.keys(family.computed ?? {})]);
  const own = Object.entries(record).filter(([name]) => !elsewhere.has(name));
  return inColumns(sql, Object.fromEntries(own), columnsOf(family).fields);
}

/** The values of the rows of its lines. */
export function lineRowsOf<Rec extends object>(sql: Sql, family: Family<Rec>, record: Rec) {
  const lines = family.lines?.of(record) ?? [];
  return lines.map((line, position) => ({
    position,
    ...inColumns(sql, line, columnsOf(family).lineFields),
  }));
}
