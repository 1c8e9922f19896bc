/**
 * Checks of body, path and query: every problem at once, each with the path of its field, as one 400. The same
 * schemas describe the request in the OpenAPI document.
 * @module
 */
import type { Context, MiddlewareHandler } from 'hono';
import { uniqueSymbol } from 'hono-openapi';
import * as v from 'valibot';
import { badRequest, invalid, Problem } from '../domain/problem.ts';
import { problemsOf, strayLists } from '../domain/validation.ts';
import type { ApiEnv } from './deps.ts';
import { type Described, describeSchema, resolved } from './json-schema.ts';
import { findRefused, isInherited } from './refused-values.ts';

type Validated<Target extends string, Schema extends v.GenericSchema> = MiddlewareHandler<
  ApiEnv,
  string,
  { in: { [K in Target]: v.InferInput<Schema> }; out: { [K in Target]: v.InferOutput<Schema> } }
>;

/**
 * Runs a schema.
 * @throws Problem 400 naming all problems
 * @example const line = parseOrThrow(ImportLine, JSON.parse(text));
 */
export function parseOrThrow<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): v.InferOutput<Schema> {
  const refused = findRefused(value);
  if (refused !== null) throw invalid([refused]);
  const result = v.safeParse(schema, value);
  const problems = result.success ? strayLists(value, result.output) : problemsOf(result.issues);
  if (result.success && problems.length === 0) return result.output;
  throw invalid(problems);
}

function described<Handler extends MiddlewareHandler<ApiEnv>>(
  handler: Handler,
  target: 'json' | 'query' | 'param',
  description: Described,
): Handler {
  return Object.assign(handler, { [uniqueSymbol]: { target, ...resolved(description) } });
}

/**
 * Reads a body sent as JSON.
 * @throws Problem 415 when it is not declared as JSON, 400 when it is not well-formed
 */
export async function readJson(c: Context<ApiEnv>): Promise<unknown> {
  const type = c.req.header('content-type') ?? '';
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type.trim())) {
    throw new Problem(415, 'The body must be JSON, sent with "content-type: application/json".');
  }
  const bytes = await c.req.arrayBuffer();
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw badRequest(
      bytes.byteLength === 0 ? 'A JSON body is required.' : 'The body is not well-formed JSON in UTF-8.',
    );
  }
}

/** Options of {@link body}. */
export interface BodyOptions {
  /** Fields of the record that a request may carry and that are ignored, so that a record read can be put back. */
  readonly responseOnly?: readonly string[];
}

function withReadOnly(description: Described, names: readonly string[]): Described {
  const add = (schema: Described['schema']): Described['schema'] => ({
    ...schema,
    properties: {
      ...schema.properties,
      ...Object.fromEntries(
        names
          .filter((name) => schema.properties?.[name] === undefined)
          .map((name) => [name, { readOnly: true, description: 'Response only: ignored in a request.' }]),
      ),
    },
  });
  const ref = description.schema.$ref?.split('/').at(-1);
  const target = ref === undefined ? undefined : description.components[ref];
  return ref === undefined || target === undefined
    ? { ...description, schema: add(description.schema) }
    : { ...description, components: { ...description.components, [ref]: add(target) } };
}

/**
 * The JSON body, as `c.req.valid('json')`. Use `v.strictObject`, so that a typing error cannot pass silently.
 * @example app.post('/orders', describe({…}), body(OrderInput, { responseOnly: ['createdAt'] }), (c) => …)
 */
export function body<Schema extends v.GenericSchema<unknown, object>>(
  schema: Schema,
  { responseOnly = [] }: BodyOptions = {},
): Validated<'json', Schema> {
  const handler: Validated<'json', Schema> = async (c, next) => {
    let value = await readJson(c);
    if (responseOnly.length > 0 && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      value = Object.fromEntries(Object.entries(value).filter(([key]) => !responseOnly.includes(key)));
    }
    c.req.addValidatedData('json', parseOrThrow(schema, value));
    await next();
  };
  return described(handler, 'json', withReadOnly(describeSchema(schema, 'input'), responseOnly));
}

/**
 * The query, as `c.req.valid('query')`: every value arrives as a string. Unknown parameters are refused.
 * @example query({ ...pageQuery, status: v.optional(v.picklist(['a', 'b'])) })
 */
export function query<const Entries extends v.ObjectEntries>(
  entries: Entries,
): Validated<'query', v.StrictObjectSchema<Entries, undefined>> {
  const schema = v.strictObject(entries);
  const handler: Validated<'query', v.StrictObjectSchema<Entries, undefined>> = async (c, next) => {
    // By the URL itself: a look-up of a parameter by name finds what every object inherits.
    const inherited = [...new URL(c.req.url).searchParams.keys()].filter(isInherited);
    if (inherited.length > 0) throw invalid(inherited.map((path) => ({ path, message: 'unknown field' })));
    const repeated = Object.entries(c.req.queries()).filter(([, values]) => values.length > 1);
    if (repeated.length > 0) {
      throw invalid(repeated.map(([path]) => ({ path, message: 'must be given once' })));
    }
    c.req.addValidatedData('query', parseOrThrow(schema, c.req.query()));
    await next();
  };
  return described(handler, 'query', describeSchema(schema, 'input'));
}

/**
 * The path parameters, percent-decoded, as `c.req.valid('param')`.
 * @example params({ eshopOrderId: identifier })
 */
export function params<const Entries extends v.ObjectEntries>(
  entries: Entries,
): Validated<'param', v.ObjectSchema<Entries, undefined>> {
  const schema = v.object(entries);
  const handler: Validated<'param', v.ObjectSchema<Entries, undefined>> = async (c, next) => {
    c.req.addValidatedData('param', parseOrThrow(schema, c.req.param()));
    await next();
  };
  return described(handler, 'param', describeSchema(schema, 'input'));
}

/** `true` or `false` in a query. */
export const booleanText = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.metadata({ jsonSchema: { type: 'boolean' } }),
  v.transform((text) => text === 'true'),
);
