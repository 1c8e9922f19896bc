/**
 * Schema and rules together report all problems of a body at once, each with the path of its field. A rule is applied
 * only if the schema accepts its fields and, on an update, one of them changed: a value accepted once is not refused
 * later because circumstances changed.
 */
import * as v from 'valibot';
import { ENOUGH_PROBLEMS, type FieldProblem, invalid } from './problem.ts';
import { unchanged } from './unchanged.ts';

/** The context of a rule besides its fields. */
interface RuleContext<Context> {
  /** Top-level fields that the schema refused. */
  readonly refused: ReadonlySet<string>;
  /** The record before the write; null on creation. */
  readonly before: object | null;
  readonly context: Context;
}

/** A rule over several fields of an input. */
export type Rule<Context> = (value: unknown, asked: RuleContext<Context>) => readonly FieldProblem[];

/** Narrows the schema's output to these fields, as the schema found nothing wrong with them. */
function hasTyped<Input extends object, K extends keyof Input & string>(
  value: unknown,
  fields: readonly K[],
  refused: ReadonlySet<string>,
): value is Pick<Input, K> {
  return typeof value === 'object' && value !== null && !fields.some((field) => refused.has(field));
}

/**
 * A rule returns the problem of the last of its fields, or a list of problems of any field; null if there is none.
 * @example const rule = rulesOf<OrderInput, WriteContext>(); const transfers = rule(['orderType', 'transferCompany'],
 * (order) => …);
 */
export function rulesOf<Input extends object, Context>() {
  return function rule<const K extends keyof Input & string>(
    fields: readonly [...K[], K],
    check: (
      value: Pick<Input, K>,
      context: Context,
      before: object | null,
    ) => string | readonly FieldProblem[] | null,
  ): Rule<Context> {
    return (value, { refused, before, context }) => {
      if (!hasTyped<Input, K>(value, fields, refused)) return [];
      const untouched =
        before !== null && fields.every((field) => unchanged(Reflect.get(before, field), value[field]));
      const found = untouched ? null : check(value, context, before);
      return typeof found === 'string' ? [{ path: fields.at(-1) ?? '', message: found }] : (found ?? []);
    };
  };
}

export function problemIf(condition: boolean, path: string, message: string): FieldProblem[] {
  return condition ? [{ path, message }] : [];
}

/** A schema's issues in the form of the API's 400. @param schema the schema that found them */
export function problemsOf(issues: readonly v.BaseIssue<unknown>[], schema: v.GenericSchema): FieldProblem[] {
  return issues.flatMap((issue) => {
    const path = v.getDotPath(issue) ?? '';
    return isSurplus(issue) ? surplusOf(issue, schema) : [{ path, message: messageOf(issue) }];
  });
}

function isSurplus(issue: v.BaseIssue<unknown>): boolean {
  return issue.type === 'strict_object' && issue.expected === 'never';
}

/** All unknown fields of one object, up to `ENOUGH_PROBLEMS`; valibot reports only the first. */
function surplusOf(issue: v.BaseIssue<unknown>, schema: v.GenericSchema): FieldProblem[] {
  const path = issue.path ?? [];
  const above = path.slice(0, -1).map(({ key }) => key);
  const known = entriesOf(above.reduce(partOf, schema));
  const sent = path.at(-1)?.input;
  const names =
    isObject(sent) && known !== undefined
      ? Object.keys(sent).filter((name) => !Object.hasOwn(known, name))
      : [path.at(-1)?.key];
  return names
    .slice(0, ENOUGH_PROBLEMS)
    .map((name) => ({ path: [...above, name].join('.'), message: 'unknown field' }));
}

/** The schema of a field of an object, or of an item of a list; undefined if the schema has none. */
function partOf(schema: unknown, key: unknown): unknown {
  if (isObject(schema) && 'item' in schema) return schema.item;
  if (isObject(schema) && 'wrapped' in schema) return partOf(schema.wrapped, key);
  return entriesOf(schema)?.[String(key)];
}

function entriesOf(schema: unknown): Record<string, unknown> | undefined {
  if (!isObject(schema)) return undefined;
  if ('wrapped' in schema) return entriesOf(schema.wrapped);
  return isObject(schema.entries) ? schema.entries : undefined;
}

/** Schemas of objects. Apart from missing and unknown fields, an issue of one means that the value is no object. */
const OBJECTS: ReadonlySet<string> = new Set(['object', 'strict_object', 'loose_object']);

function messageOf({ kind, type, received, message }: v.BaseIssue<unknown>): string {
  if (kind !== 'schema') return message;
  if (received === 'undefined') return 'is required';
  return OBJECTS.has(type) ? 'must be an object' : message;
}

/**
 * @param asked.before the record before the write, in the input's form; null on creation
 * @throws Problem 400 naming all problems
 */
export function validate<Schema extends v.GenericSchema, Context>(
  schema: Schema,
  value: unknown,
  asked?: {
    readonly rules: readonly Rule<Context>[];
    readonly before: object | null;
    readonly context: Context;
  },
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value);
  const problems = result.success ? misplacedLists(value, result.output) : problemsOf(result.issues, schema);
  const refused = new Set(problems.map(({ path }) => path.split('.')[0] ?? ''));
  // If the whole body is refused, no field is left to check.
  if (asked !== undefined && !refused.has('')) {
    for (const rule of asked.rules) problems.push(...rule(result.output, { refused, ...asked }));
  }
  if (!result.success || problems.length > 0) throw invalid(problems);
  return result.output;
}

/** Lists sent in place of objects: valibot accepts a list as an object with only optional fields. */
export function misplacedLists(
  input: unknown,
  output: unknown,
  path: readonly string[] = [],
): FieldProblem[] {
  if (typeof input !== 'object' || input === null || typeof output !== 'object' || output === null) return [];
  if (Array.isArray(input) && !Array.isArray(output)) {
    return [{ path: path.join('.'), message: 'must be an object, not a list' }];
  }
  const problems: FieldProblem[] = [];
  for (const [key, value] of Object.entries(input)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(output, key)) continue;
    problems.push(...misplacedLists(value, Reflect.get(output, key), [...path, key]));
  }
  return problems;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The body without the fields a request may carry but not write; anything but an object is returned unchanged. */
export function omitFields(body: unknown, names: readonly string[]): unknown {
  if (!isObject(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

/** @throws Problem 400 if it is no object */
export function fieldsOf(body: unknown): Record<string, unknown> {
  if (isObject(body)) return body;
  throw invalid([{ path: '', message: 'The body must be a JSON object.' }]);
}
