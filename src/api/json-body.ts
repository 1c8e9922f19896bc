/**
 * JSON bodies with rules besides their schema, reported together in one response; `validate.ts` has the others.
 */
import type { Context, MiddlewareHandler } from 'hono';
import type * as v from 'valibot';
import { findInvalidText } from '../domain/invalid-text.ts';
import { badRequest, invalid, Problem } from '../domain/problem.ts';
import { fieldsOf } from '../domain/validation.ts';
import { chargeTime } from './budget/allowance.ts';
import type { ApiEnv } from './deps.ts';
import { type Described, describeSchema, documents, refTo } from './json-schema.ts';
import { hasWideObject, MAX_FIELDS } from './wide-objects.ts';

export interface BodyOptions {
  /** Response-only fields: ignored in a request, so that a record can be sent back as read. */
  readonly responseOnly?: readonly string[];
  /** The present record, if response-only fields may be sent only unchanged: any other value is refused. */
  readonly present?: (c: Context<ApiEnv>) => Promise<object>;
  /** The name of the identifier in the path: in the body it is left out, or the same. */
  readonly inPath?: string;
  /** True if every field may be left out and then stays as it is. */
  readonly partial?: boolean;
  /** Its name in the documentation, if its schema has none. */
  readonly name?: string;
  /** A request without a body is treated as one with all fields left out. */
  readonly mayBeAbsent?: boolean;
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
 * @throws Problem 415 if it is not declared as JSON, 400 if it is malformed or has values that are never allowed
 */
export function readJson(c: Context<ApiEnv>): unknown {
  const type = c.req.header('content-type') ?? '';
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type.trim())) {
    throw new Problem(415, 'The body must be JSON, sent with "content-type: application/json".');
  }
  const bytes = c.get('body') ?? new Uint8Array();
  if (bytes.byteLength === 0) throw badRequest('A JSON body is required.');
  return chargeTime(c.get('allowance'), () => parseJson(bytes, 'body'));
}

/**
 * @param what its name in messages, such as "body"
 * @throws Problem 400 if it is malformed, or has values that are never allowed or an object with too many fields
 */
export function parseJson(bytes: Uint8Array, what: string): unknown {
  if (hasWideObject(bytes)) throw badRequest(`An object in the ${what} has more than ${MAX_FIELDS} fields.`);
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    throw badRequest(`The ${what} is not well-formed JSON in UTF-8.`);
  }
  const refused = findInvalidText(value);
  if (refused !== null) throw invalid([refused]);
  return value;
}

export function describeBody(schema: v.GenericSchema, options: BodyOptions = {}): Described {
  const described = describeSchema(schema, 'input');
  const ref = described.schema.$ref?.split('/').at(-1) ?? options.name;
  if (ref === undefined) return { ...described, schema: amended(described.schema, options) };
  const { [ref]: target = described.schema, ...others } = described.components;
  return { schema: refTo(ref), components: { ...others, [ref]: amended(target, options) } };
}

function amended(
  { required = [], properties = {}, ...schema }: Described['schema'],
  { responseOnly = [], present, inPath, partial = false }: BodyOptions,
): Described['schema'] {
  const needed = partial ? [] : required.filter((name) => name !== inPath);
  const written = Object.entries(properties).map(([name, property]) => {
    if (typeof property === 'boolean') return [name, property];
    if (name === inPath) {
      const description = 'The same as in the path, or left out.';
      return [name, { ...property, readOnly: true, description }];
    }
    const { default: _, ...others } = property;
    // Otherwise a generated client would send the defaults of fields left out.
    return [name, partial ? others : property];
  });
  const description =
    present === undefined
      ? 'Response only: ignored in a request.'
      : 'Only the operator changes it: in a request, leave it out or as it is.';
  const ignored = responseOnly
    .filter((name) => properties[name] === undefined)
    .map((name) => [name, { readOnly: true, description }]);
  return {
    ...schema,
    ...(needed.length === 0 ? {} : { required: needed }),
    properties: Object.fromEntries([...written, ...ignored]),
  };
}
