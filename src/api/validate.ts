/**
 * Checks body, path and query: one 400 with every problem and its field. The schemas also document the request.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Context, MiddlewareHandler } from 'hono';
import * as v from 'valibot';
import { findInvalidText, isInherited } from '../domain/invalid-text.ts';
import { type FieldProblem, invalid } from '../domain/problem.ts';
import { fieldsOf, omitFields, type Rule, validate } from '../domain/validation.ts';
import { chargeTime } from './budget/allowance.ts';
import type { ApiEnv } from './deps.ts';
import { type BodyOptions, describeBody, readJson } from './json-body.ts';
import { describeSchema, documents } from './json-schema.ts';

type Validated<Target extends string, Schema extends v.GenericSchema> = MiddlewareHandler<
  ApiEnv,
  string,
  { in: { [K in Target]: v.InferInput<Schema> }; out: { [K in Target]: v.InferOutput<Schema> } }
>;

/** The JSON body, as `c.req.valid('json')`. Use `v.strictObject`, so that typing errors are refused. */
export function body<Schema extends v.GenericSchema<unknown, object>>(
  schema: Schema,
  options: BodyOptions & {
    /** Rules beyond the schema, for this request. */
    readonly rules?: (c: Context<ApiEnv>) => Promise<readonly Rule<unknown>[]>;
  } = {},
): Validated<'json', Schema> {
  const handler: Validated<'json', Schema> = async (c, next) => {
    const isAbsent = options.mayBeAbsent === true && (c.get('body')?.byteLength ?? 0) === 0;
    const json = isAbsent ? {} : readJson(c);
    const responseOnly = options.responseOnly ?? [];
    const sent = omitFields(fieldsOf(json), responseOnly);
    const present = await options.present?.(c);
    const rules: Rule<unknown>[] = [...((await options.rules?.(c)) ?? [])];
    if (present !== undefined) rules.push(() => changedAmong(responseOnly, fieldsOf(json), present));
    c.req.addValidatedData(
      'json',
      chargeTime(c.get('allowance'), () => validate(schema, sent, { rules, before: null, context: null })),
    );
    await next();
  };
  return documents(handler, 'json', describeBody(schema, options));
}

/** The problems of fields that only the operator changes. */
function changedAmong(names: readonly string[], sent: object, present: object): FieldProblem[] {
  return names
    .filter(
      (name) =>
        Object.hasOwn(sent, name) && !isDeepStrictEqual(Reflect.get(present, name), Reflect.get(sent, name)),
    )
    .map((path) => ({ path, message: 'only the operator changes it' }));
}

/** @throws Problem 400 */
function checked<Schema extends v.GenericSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const refused = findInvalidText(value);
  if (refused !== null) throw invalid([refused]);
  return validate(schema, value);
}

/**
 * The query, as `c.req.valid('query')`: values arrive as strings, unknown parameters are refused.
 * @example query({ ...pageQuery, status: v.optional(v.picklist(['a', 'b'])) })
 */
export function query<const Entries extends v.ObjectEntries>(entries: Entries) {
  const schema = v.strictObject(entries);
  const handler: Validated<'query', v.StrictObjectSchema<Entries, undefined>> = async (c, next) => {
    // From the URL itself: a look-up by name would find inherited members, and misses a parameter without a name.
    const unknown = [...new URL(c.req.url).searchParams.keys()].filter(
      (name) => name === '' || isInherited(name),
    );
    if (unknown.length > 0)
      throw invalid(unknown.map((name) => ({ path: name || '""', message: 'unknown field' })));
    const repeated = Object.entries(c.req.queries()).filter(([, values]) => values.length > 1);
    if (repeated.length > 0) {
      throw invalid(repeated.map(([path]) => ({ path, message: 'must be given only once' })));
    }
    c.req.addValidatedData('query', checked(schema, c.req.query()));
    await next();
  };
  return documents(handler, 'query', describeSchema(schema, 'input'));
}

/** The path parameters, percent-decoded, as `c.req.valid('param')`. */
export function params<const Entries extends v.ObjectEntries>(entries: Entries) {
  const schema = v.object(entries);
  const handler: Validated<'param', v.ObjectSchema<Entries, undefined>> = async (c, next) => {
    c.req.addValidatedData('param', checked(schema, c.req.param()));
    await next();
  };
  return documents(handler, 'param', describeSchema(schema, 'input'));
}

export const booleanText = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.metadata({ jsonSchema: { type: 'boolean' } }),
  v.transform((text) => text === 'true'),
);
