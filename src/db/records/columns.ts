/**
 * Between the fields of a record and their columns. Which fields there are, in which order and of which kind, is read
 * from the schema of the record's v2 form: a new field is a field of the schema and a column.
 * @module
 */
import type { Fragment } from 'postgres';
import { type FieldKind, fieldKinds } from '../../domain/record-schema.ts';
import { asTimestamp, json } from '../json.ts';
import type { Sql } from '../pool.ts';
import type { Family } from './family.ts';

interface Columns {
  readonly fields: ReadonlyMap<string, FieldKind>;
  readonly lineFields: ReadonlyMap<string, FieldKind>;
}
const known = new WeakMap<object, Columns>();

function columnsOf<Rec extends object>(family: Family<Rec>): Columns {
  const { entry, lines } = family;
  const schema = entry.recordSchema('v2');
  const columns = known.get(family) ?? {
    fields: fieldKinds(schema),
    lineFields: lines === undefined ? new Map() : fieldKinds(schema, lines.field),
  };
  known.set(family, columns);
  return columns;
}

const listed = (sql: Sql, fragments: readonly Fragment[]): Fragment =>
  fragments.reduce((all, fragment) => sql`${all}, ${fragment}`);

/** The lines of a record as JSON, in one statement with it: a reader never sees one without the other. */
function linesOf(sql: Sql, table: string, key: string, fields: Columns['lineFields']): Fragment {
  const pairs = [...fields].map(([name, kind]) => {
    const column = sql`p.${sql(name)}`;
    const value =
      kind === 'timestamp' ? asTimestamp(sql, column) : kind === 'decimal' ? sql`${column}::text` : column;
    return sql`${name}::text, ${value}`;
  });
  return sql`(
    select json_agg(json_build_object(${listed(sql, pairs)}) order by p.position)
    from ${sql(table)} p where p.eshop_id = t.eshop_id and p.${sql(key)} = t.${sql(key)})`;
}

/** A whole record as one row of the table `t`, in the form that records have. */
export function selected<Rec extends object>(sql: Sql, family: Family<Rec>): Fragment {
  const { entry, lines, computed } = family;
  const { fields, lineFields } = columnsOf(family);
  const columns = [...fields].map(([name, kind]) => {
    const column = sql`t.${sql(name)}`;
    if (name === lines?.field)
      return sql`${linesOf(sql, lines.table, entry.idField, lineFields)} as ${sql(name)}`;
    const value = computed?.[name]?.(sql) ?? (kind === 'timestamp' ? asTimestamp(sql, column) : column);
    return sql`${value} as ${sql(name)}`;
  });
  return listed(sql, columns);
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
