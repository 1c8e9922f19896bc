/**
 * Bodies in JSON that have rules beside their schema, whose findings are told in one answer; `validate.ts` has the
 * others.
 */
import type { Context, MiddlewareHandler } from 'hono';
import type * as v from 'valibot';
import { badRequest, invalid, Problem } from '../domain/problem.ts';
import { fieldsOf } from '../domain/validation.ts';
import { charged } from './budget/charged.ts';
import type { ApiEnv } from './deps.ts';
import { type Described, describeSchema, documents } from './json-schema.ts';
import { findRefused } from './refused-values.ts';
import { hasWideObject, MAX_FIELDS } from './wide-objects.ts';

export interface BodyOptions {
  /** Fields of the record that a request may carry and that are ignored, so that a record can be sent back as it was read. */
  readonly responseOnly?: readonly string[];
  /** Required fields that may be left out here: the identifier of a PUT, everything of a PATCH. */
  readonly optional?: readonly string[] | 'all';
  /** A request without a body is one whose fields are all left out. */
  readonly mayBeAbsent?: boolean;
}

/** Whether a request has no body at all. */
export function hasNoBody(c: Context<ApiEnv>): boolean {
  return (c.var.body?.byteLength ?? 0) === 0;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Any JSON object, as `c.req.valid('json')`. */
export function jsonBody(schema: v.GenericSchema<unknown, object>, options: BodyOptions = {}) {
  const handler: MiddlewareHandler<
    ApiEnv,
    string,
    { in: { json: Record<string, unknown> }; out: { json: Record<string, unknown> } }
  > = async (c, next) => {
    c.req.addValidatedData('json', fieldsOf(readJson(c)));
    await next();
  };
  return documents(handler, 'json', describeBody(schema, options));
}

/**
 * @throws Problem 415 when it is not declared as JSON, 400 when it is not well-formed or has values that nobody may
 * send
 */
export function readJson(c: Context<ApiEnv>): unknown {
  const type = c.req.header('content-type') ?? '';
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type.trim())) {
    throw new Problem(415, 'The body must be JSON, sent with "content-type: application/json".');
  }
  const bytes = c.var.body ?? new Uint8Array();
  if (bytes.byteLength === 0) throw badRequest('A JSON body is required.');
  return charged(c, () => parseJson(bytes, 'body'));
}

/**
 * @param what to call it, such as "body"
 * @throws Problem 400 when it is not well-formed, or has values that nobody may send or an object of too many fields
 */
export function parseJson(bytes: Uint8Array, what: string): unknown {
  if (hasWideObject(bytes)) throw badRequest(`An object in the ${what} has more than ${MAX_FIELDS} fields.`);
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    throw badRequest(`The ${what} is not well-formed JSON in UTF-8.`);
  }
  const refused = findRefused(value);
  if (refused !== null) throw invalid([refused]);
  return value;
}

export function describeBody(schema: v.GenericSchema, options: BodyOptions): Described {
  const { responseOnly = [], optional = [] } = options;
  const described = describeSchema(schema, 'input');
  const ref = described.schema.$ref?.split('/').at(-1);
  const target = ref === undefined ? undefined : described.components[ref];
  const amend = (each: Described['schema']) => withReadOnly(withOptional(each, optional), responseOnly);
  return ref === undefined || target === undefined
    ? { ...described, schema: amend(described.schema) }
    : { ...described, components: { ...described.components, [ref]: amend(target) } };
}

function withOptional(
  { required = [], ...schema }: Described['schema'],
  optional: readonly string[] | 'all',
): Described['schema'] {
  const needed = optional === 'all' ? [] : required.filter((name) => !optional.includes(name));
  return needed.length === 0 ? schema : { ...schema, required: needed };
}

function withReadOnly(schema: Described['schema'], names: readonly string[]): Described['schema'] {
  const readOnly = names
    .filter((name) => schema.properties?.[name] === undefined)
    .map((name) => [name, { readOnly: true, description: 'Response only: ignored in a request.' }]);
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(readOnly) } };
}
