/**
 * A body that is documented by its schema and checked in the domain, where the rules know the record before the
 * write: so that all problems, the schema's and the rules', come in one answer.
 * @module
 */
import * as v from 'valibot';
import { describeSchema } from './json-schema.ts';
import { body } from './validate.ts';

/** How a body is documented. */
export interface RawBodyOptions {
  /** Fields of the record that are accepted and ignored. */
  readonly responseOnly?: readonly string[];
  /** Required fields that may be left out here: the identifier of a PUT, everything of a PATCH. */
  readonly optional?: readonly string[] | 'all';
}

/**
 * Any JSON object, as `c.req.valid('json')`.
 * @param schema what the OpenAPI document says of it
 */
export function rawBody(schema: v.GenericSchema<unknown, object>, options: RawBodyOptions = {}) {
  const { responseOnly = [], optional = [] } = options;
  const { required = [], ...described } = describeSchema(schema, 'input').schema;
  const needed = optional === 'all' ? [] : required.filter((name) => !optional.includes(name));
  const jsonSchema = needed.length === 0 ? described : { ...described, required: needed };
  return body(
    v.pipe(v.record(v.string(), v.unknown(), 'The body must be a JSON object.'), v.metadata({ jsonSchema })),
    { responseOnly },
  );
}
