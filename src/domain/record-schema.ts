/**
 * Derives the schema of a record in a payload version from that of a request: optional fields become `null` or their
 * default, decimals take the version's form, timestamps UTC. One source documents requests, responses and payloads.
 */
import * as v from 'valibot';
import { type PayloadVersion, writtenDecimal } from './decimal.ts';

type AnySchema = v.GenericSchema;

/** A timestamp as in records. */
export function writtenTimestamp() {
  return v.pipe(
    v.string(),
    v.isoTimestamp(),
    v.examples(['2026-11-20T19:33:00.000Z']),
    v.metadata({ timestamp: true }),
  );
}

function isSchema(value: unknown): value is AnySchema {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schema';
}

/** @param schema made by `fields.ts`, `decimal.ts` and `timestamp.ts` */
export function versionSchema(schema: AnySchema, version: PayloadVersion): AnySchema {
  const described = v.getDescription(schema);
  const plain = bare(schema, version);
  return described === undefined || v.getDescription(plain) !== undefined
    ? plain
    : v.pipe(plain, v.description(described));
}

function bare(schema: AnySchema, version: PayloadVersion): AnySchema {
  const { decimal, timestamp, ref } = v.getMetadata(schema);
  if (decimal === 'money' || decimal === 'count') return writtenDecimal(decimal, version);
  if (timestamp === true) return writtenTimestamp();
  if ('wrapped' in schema && isSchema(schema.wrapped)) {
    const inner = versionSchema(schema.wrapped, version);
    return schema.type === 'nullish' || schema.type === 'nullable' ? v.nullable(inner) : inner;
  }
  if ('item' in schema && isSchema(schema.item)) return v.array(versionSchema(schema.item, version));
  if ('entries' in schema && typeof schema.entries === 'object' && schema.entries !== null) {
    const record = recordObject(schema.entries, version);
    return typeof ref === 'string' ? named(record, ref.replace(/Input$/, ''), version) : record;
  }
  return schema;
}

/**
 * The request's fields in their order, then the record's own.
 * @param own in their record form; a field of the same name replaces the request's
 */
export function recordObject(
  entries: object,
  version: PayloadVersion,
  own: Readonly<Record<string, AnySchema>> = {},
) {
  const fields = schemasIn(entries).map(([name, schema]) => [name, versionSchema(schema, version)] as const);
  return v.strictObject({ ...Object.fromEntries(fields), ...own });
}

/**
 * Names a record's schema in the documentation; the v2 form has a name of its own.
 * @param name such as "Order"
 */
export function named<S extends AnySchema>(schema: S, name: string, version: PayloadVersion) {
  return v.pipe(schema, v.metadata({ ref: version === 'v21' ? name : `${name}V2` }));
}

export type FieldKind = 'timestamp' | 'decimal' | 'json' | 'plain';

/**
 * @param record the schema of its v2 form
 * @param list the name of a list field, to use its items instead
 */
export function fieldKinds(record: AnySchema, list?: string): Map<string, FieldKind> {
  const fields = new Map('entries' in record ? schemasIn(record.entries) : []);
  if (list === undefined) return new Map([...fields].map(([name, schema]) => [name, kindOf(schema)]));
  const items = fields.get(list);
  if (items === undefined || !('item' in items) || !isSchema(items.item))
    throw new RangeError(`${list} is not a list.`);
  return fieldKinds(items.item);
}

function schemasIn(entries: unknown): [string, AnySchema][] {
  const all: [string, unknown][] = Object.entries(entries ?? {});
  return all.filter((entry): entry is [string, AnySchema] => isSchema(entry[1]));
}

function kindOf(schema: AnySchema): FieldKind {
  const { timestamp, decimal } = v.getMetadata(schema);
  if (timestamp === true) return 'timestamp';
  if (decimal !== undefined) return 'decimal';
  if ('wrapped' in schema && isSchema(schema.wrapped)) return kindOf(schema.wrapped);
  return 'item' in schema && isSchema(schema.item) && 'entries' in schema.item ? 'json' : 'plain';
}
