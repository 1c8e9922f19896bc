/** JSON Schema → TypeScript, as far as the records of the catalogue need it. */
import * as v from 'valibot';

/** The part of JSON Schema that records use. */
interface Schema {
  readonly $ref?: string | undefined;
  readonly type?: string | undefined;
  readonly description?: string | undefined;
  readonly enum?: readonly (string | number)[] | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly items?: Schema | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly required?: readonly string[] | undefined;
}

const schemaOf: v.GenericSchema<unknown, Schema> = v.object({
  $ref: v.optional(v.string()),
  type: v.optional(v.string()),
  description: v.optional(v.string()),
  enum: v.optional(v.array(v.union([v.string(), v.number()]))),
  anyOf: v.optional(v.array(v.lazy(() => schemaOf))),
  items: v.optional(v.lazy(() => schemaOf)),
  properties: v.optional(
    v.record(
      v.string(),
      v.lazy(() => schemaOf),
    ),
  ),
  required: v.optional(v.array(v.string())),
});

const plain: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** Fields whose list the operator can extend: other values are possible. */
const openLists: ReadonlySet<string> = new Set(['marketplace']);

/** @throws RangeError for schemas that no record has used so far */
function typeOf(schema: Schema, open = false): string {
  const { $ref, anyOf, items, properties, enum: values, type = '' } = schema;
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? '';
  if (anyOf !== undefined) return anyOf.map((each) => typeOf(each, open)).join(' | ');
  if (values !== undefined) {
    const literals = values.map((value) => JSON.stringify(value)).join(' | ');
    return open ? `${literals} | (string & {})` : literals;
  }
  if (items !== undefined) return `readonly (${typeOf(items)})[]`;
  if (properties !== undefined) return `{\n${fieldsOf(schema)}\n}`;
  const found = plain[type];
  if (found === undefined) throw new RangeError(`No type for ${JSON.stringify(schema)}.`);
  return found;
}

const comment = (text: string | undefined) => (text === undefined ? '' : `/** ${text} */\n`);

function fieldsOf({ properties = {}, required = [] }: Schema): string {
  return Object.entries(properties)
    .map(([name, schema]) => {
      const description =
        schema.description ?? schema.anyOf?.find((each) => each.description !== undefined)?.description;
      const mark = required.includes(name) ? '' : '?';
      return `${comment(description)}readonly ${name}${mark}: ${typeOf(schema, openLists.has(name))};`;
    })
    .join('\n');
}

/**
 * An exported interface, or the type of a component that is no object. Codes of an open-ended standard are strings.
 * @param description of an interface whose schema has none
 * @param component as JSON Schema
 * @throws RangeError for a schema that it does not understand
 */
export function declarationOf(name: string, description: string, component: unknown): string {
  const schema = v.parse(schemaOf, component);
  return schema.properties === undefined
    ? `${comment(schema.description)}export type ${name} = ${typeOf({ type: schema.type })};\n`
    : `${comment(schema.description ?? description)}export interface ${name} {\n${fieldsOf(schema)}\n}\n`;
}
