/**
 * From the schema of a request to the schema of the record in a payload version: what is optional in a request is
 * `null` (or its default) in a record, decimals take the version's form, timestamps are written in UTC. So requests,
 * answers and payloads are documented from one source.
 * @module
 */
import * as v from 'valibot';
import { type PayloadVersion, writtenDecimal } from './decimal.ts';

/** Any schema, seen from outside. */
type AnySchema = v.GenericSchema;

/** A timestamp as records carry it. */
export function writtenTimestamp() {
  return v.pipe(v.string(), v.isoTimestamp(), v.examples(['2026-11-20T19:33:00.000Z']));
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
