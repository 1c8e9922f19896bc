/**
 * From the schema of a request to the schema of the record in a payload version: what is optional in a request is
 * `null` (or its default) in a record, decimals take the version's form, timestamps are written in UTC. So requests,
 * answers and payloads are documented from one source.
 */
import * as v from 'valibot';
import { type PayloadVersion, writtenDecimal } from './decimal.ts';

/** Any schema, seen from outside. */
type AnySchema = v.GenericSchema;

/** A timestamp as records carry it. */
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

/**
 * The record's form of one field's schema.
 * @param schema a schema as `fields.ts`, `decimal.ts` and `timestamp.ts` make them
 */
export function recordForm(schema: AnySchema, version: PayloadVersion): AnySchema {
  const described = v.getDescription(schema);
  const plain = bare(schema, version);
  return described === undefined || v.getDescription(plain) !== undefined
    ? plain
    : v.pipe(plain, v.description(described));
}

function bare(schema: AnySchema, version: PayloadVersion): AnySchema {
  const { decimal, timestamp } = v.getMetadata(schema);
  if (decimal === 'money' || decimal === 'count') return writtenDecimal(decimal, version);
  if (timestamp === true) return writtenTimestamp();
  if ('wrapped' in schema && isSchema(schema.wrapped)) {
    const inner = recordForm(schema.wrapped, version);
    return schema.type === 'nullish' || schema.type === 'nullable' ? v.nullable(inner) : inner;
  }
  if ('item' in schema && isSchema(schema.item)) return v.array(recordForm(schema.item, version));
  if ('entries' in schema && typeof schema.entries === 'object' && schema.entries !== null) {
    return recordObject(schema.entries, version);
  }
  return schema;
}

/**
 * The record's form of an object: the same fields in the same order, then the ones only a record has.
 * @param entries the request's fields
 * @param own the service's own fields, in their record form already; one of the same name takes the request's place
 */
export function recordObject(
  entries: object,
  version: PayloadVersion,
  own: Readonly<Record<string, AnySchema>> = {},
) {
  const fields: Record<string, AnySchema> = {};
  for (const [name, schema] of Object.entries(entries)) {
    if (isSchema(schema)) fields[name] = recordForm(schema, version);
  }
  return v.strictObject({ ...fields, ...own });
}

/**
 * Gives a record's schema the name under which the documentation shows it: the v2 form has a name of its own.
 * @param name such as "Order"
 */
export function named<S extends AnySchema>(schema: S, name: string, version: PayloadVersion) {
  return v.pipe(schema, v.metadata({ ref: version === 'v21' ? name : `${name}V2` }));
}

/** What a field of a record is, as far as its storage is concerned. */
export type FieldKind = 'timestamp' | 'decimal' | 'json' | 'plain';

/**
 * The fields of a record in their order.
 * @param record the schema of its v2 form
 * @param list to look at the items of this field, which is a list, instead
 */
export function fieldKinds(record: AnySchema, list?: string): Map<string, FieldKind> {
  const fields = new Map(Object.entries(entriesOf(record)));
  if (list === undefined) return new Map([...fields].map(([name, schema]) => [name, kindOf(schema)]));
  const items = fields.get(list);
  if (items === undefined || !('item' in items) || !isSchema(items.item))
    throw new RangeError(`${list} is not a list.`);
  return fieldKinds(items.item);
}

function entriesOf(schema: AnySchema): Record<string, AnySchema> {
  const entries = 'entries' in schema && typeof schema.entries === 'object' ? (schema.entries ?? {}) : {};
  const found: Record<string, AnySchema> = {};
  for (const [name, entry] of Object.entries(entries)) if (isSchema(entry)) found[name] = entry;
  return found;
}

function kindOf(schema: AnySchema): FieldKind {
  const { timestamp, decimal } = v.getMetadata(schema);
  if (timestamp === true) return 'timestamp';
  if (decimal !== undefined) return 'decimal';
  if ('wrapped' in schema && isSchema(schema.wrapped)) return kindOf(schema.wrapped);
  return 'item' in schema && isSchema(schema.item) && 'entries' in schema.item ? 'json' : 'plain';
}
