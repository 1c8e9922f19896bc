/**
 * valibot schemas → the JSON Schema of the OpenAPI document. In `v.metadata`, `ref` names a schema that is written
 * once under `components/schemas` (keep it last in the pipe), `jsonSchema` replaces the generated schema, and
 * `narrowed` goes beside the reference if a field allows less than its component.
 */
import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import type { MiddlewareHandler } from 'hono';
import { type resolver, uniqueSymbol } from 'hono-openapi';
import type * as v from 'valibot';
import { isObject } from '../domain/validation.ts';
import { perKey } from '../lib/per-key.ts';
import type { ApiEnv } from './deps.ts';

/** The side of a transformation: the request, or the response. */
type Side = 'input' | 'output';

export interface Described {
  readonly schema: JsonSchema;
  readonly components: Readonly<Record<string, JsonSchema>>;
}

/** Keys of `v.metadata` that are not part of the description. */
const OWN_MARKS: ReadonlySet<string> = new Set(['ref', 'timestamp', 'decimal']);

function typeName(constant: unknown): 'string' | 'number' | 'boolean' {
  return typeof constant === 'string' ? 'string' : typeof constant === 'number' ? 'number' : 'boolean';
}

export function refTo(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** Descriptions by schema: every app of a process has the same ones. */
const described: Record<Side, (schema: v.GenericSchema) => Described> = {
  input: perKey((schema) => describedUncached(schema, 'input')),
  output: perKey((schema) => describedUncached(schema, 'output')),
};

/** Describes one schema. Checks that JSON Schema cannot express are left to the descriptions. */
export function describeSchema(schema: v.GenericSchema, side: Side): Described {
  return described[side](schema);
}

function describedUncached(schema: v.GenericSchema, side: Side): Described {
  const components: Record<string, JsonSchema> = {};
  const { $schema: _, ...converted } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: side,
    errorMode: 'ignore',
    // Some client generators ignore a constant without a type.
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      valibotSchema.type === 'literal' ? { type: typeName(jsonSchema.const), ...jsonSchema } : undefined,
    overrideAction({ valibotAction, jsonSchema }) {
      if (valibotAction.type !== 'metadata' || !('metadata' in valibotAction)) return undefined;
      const { metadata } = valibotAction;
      if (!isObject(metadata)) return undefined;
      const documented = isObject(metadata.jsonSchema)
        ? metadata.jsonSchema
        : Object.fromEntries(Object.entries(jsonSchema).filter(([key]) => !OWN_MARKS.has(key)));
      if (typeof metadata.ref !== 'string') return documented;
      components[metadata.ref] = documented;
      return { ...refTo(metadata.ref), ...(isObject(metadata.narrowed) ? metadata.narrowed : {}) };
    },
  });
  return { schema: converted, components };
}

export function resolved({ schema, components }: Described): ReturnType<typeof resolver> {
  // A copy through JSON, as the JSON Schema types of hono-openapi and valibot differ, but only in name.
  const copy = () => JSON.parse(JSON.stringify({ schema, components: { schemas: components } }));
  return {
    vendor: 'valibot',
    validate: (value) => ({ value }),
    toJSONSchema: () => copy().schema,
    toOpenAPISchema: async () => copy(),
  };
}

/** Attaches to a middleware the description of what it checks, for the OpenAPI document. */
export function documents<Handler extends MiddlewareHandler<ApiEnv>>(
  handler: Handler,
  target: 'json' | 'query' | 'param' | 'header',
  description: Described,
): Handler {
  return Object.assign(handler, { [uniqueSymbol]: { target, ...resolved(description) } });
}
