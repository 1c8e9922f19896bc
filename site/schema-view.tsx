/** Schemas as short type names, and as tables of fields. */
import type { Child } from 'hono/jsx';
import type { DocumentedSchema } from '../src/api/openapi/document.ts';
import { schemaPath } from './addresses.ts';
import { blocks, inline } from './markdown.ts';

function joined(parts: readonly Child[], separator: string): Child[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]));
}

export function TypeName({ schema }: { schema: DocumentedSchema | undefined }) {
  if (schema === undefined) return <>any</>;
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? schema.$ref;
    return <a href={schemaPath(name)}>{name}</a>;
  }
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) {
    const named = alternatives.map((each) => <TypeName schema={each} />);
    return <>{joined(named, ' or ')}</>;
  }
  if (schema.const !== undefined) return <code>{JSON.stringify(schema.const)}</code>;
  if (schema.items !== undefined) {
    return (
      <>
        list of <TypeName schema={schema.items} />
      </>
    );
  }
  const type = typeof schema.type === 'string' ? schema.type : (schema.type?.join(' or ') ?? 'any');
  return <>{schema.format === undefined ? type : `${type} (${schema.format})`}</>;
}

const written = (count: number) => count.toLocaleString('en-US');

function lengthOf({ minLength = 0, maxLength }: DocumentedSchema): string {
  const least =
    minLength === 0 ? '' : minLength === 1 ? 'Not empty.' : `At least ${written(minLength)} characters.`;
  return `${least}${maxLength === undefined ? '' : ` At most ${written(maxLength)} characters.`}`.trim();
}

/** A bound that every number of this size keeps anyway says nothing. */
const bound = (value: number | undefined) =>
  value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? undefined : value;

function rangeOf({ minimum, maximum }: DocumentedSchema): string {
  const [least, most] = [bound(minimum), bound(maximum)];
  if (least !== undefined && most !== undefined) return `From ${written(least)} to ${written(most)}.`;
  if (least !== undefined) return `At least ${written(least)}.`;
  return most === undefined ? '' : `At most ${written(most)}.`;
}

function valuesOf({ enum: values }: DocumentedSchema): string {
  return values === undefined ? '' : `One of ${values.map((value) => `\`${value}\``).join(', ')}.`;
}

/** The limits of a value, as sentences of Markdown. */
export function limitsOf(schema: DocumentedSchema): string {
  const limits = [
    valuesOf(schema),
    // It goes without saying that an optional field that is left out is null.
    schema.default === undefined || schema.default === null
      ? ''
      : `Default \`${JSON.stringify(schema.default)}\`.`,
    lengthOf(schema),
    schema.maxItems === undefined ? '' : `At most ${written(schema.maxItems)} items.`,
    rangeOf(schema),
  ];
  return limits.filter((limit) => limit !== '').join(' ');
}

/** The fields of an object, or of the items of a list. */
function innerObject(schema: DocumentedSchema | undefined): DocumentedSchema | undefined {
  if (schema === undefined || schema.$ref !== undefined) return undefined;
  if (schema.properties !== undefined) return schema;
  if (schema.items !== undefined) return innerObject(schema.items);
  return (schema.anyOf ?? schema.oneOf)?.map(innerObject).find((inner) => inner !== undefined);
}

/** The description of a schema or else of one inside: the description of a field may be in either. */
function descriptionOf(schema: DocumentedSchema): string | undefined {
  if (schema.description !== undefined) return schema.description;
  const parts = [
    ...(schema.anyOf ?? schema.oneOf ?? []),
    ...(schema.items === undefined ? [] : [schema.items]),
  ];
  return parts.map(descriptionOf).find((found) => found !== undefined);
}

/** The depth of fields in the table of an object; the deepest ones show only their type. */
const LEVELS = 6;

interface FieldsProps {
  /** Of an answer, whose fields have no limits for its reader; which are always there is in the schema. */
  readonly ofAnswer: boolean;
  /** The names of the objects around the field, each with a dot. */
  readonly prefix: string;
}

function Field({
  name,
  field,
  required,
  prefix,
  ofAnswer,
}: FieldsProps & { name: string; field: DocumentedSchema; required: boolean }) {
  const inside = field.anyOf?.find(({ type }) => type !== 'null');
  const description = descriptionOf(field) ?? '';
  const bounded = { ...inside, ...field };
  const limits = ofAnswer ? valuesOf(bounded) : limitsOf(bounded);
  const inner = innerObject(field);
  const deeper = prefix.split('.').length <= LEVELS;
  return (
    <>
      <li>
        <p class="name">
          <code>{prefix + name}</code>{' '}
          <span class="type">
            <TypeName schema={field} />
          </span>
          {required && !ofAnswer ? <span class="required"> required</span> : null}
        </p>
        {description === '' ? null : <div>{blocks(description)}</div>}
        {limits === '' ? null : <p class="limits">{inline(limits)}</p>}
      </li>
      {inner === undefined || !deeper ? null : (
        <FieldItems schema={inner} prefix={`${prefix}${name}.`} ofAnswer={ofAnswer} />
      )}
    </>
  );
}

/** A response-only field: as part of a request it has no type. */
function isIgnored({ readOnly, type }: DocumentedSchema): boolean {
  return readOnly === true && type === undefined;
}

function FieldItems({ schema, prefix, ofAnswer }: FieldsProps & { schema: DocumentedSchema }) {
  const shown = Object.entries(schema.properties ?? {}).filter(([, field]) => !isIgnored(field));
  return (
    <>
      {shown.map(([name, field]) => (
        <Field
          name={name}
          field={field}
          required={schema.required?.includes(name) === true}
          prefix={prefix}
          ofAnswer={ofAnswer}
        />
      ))}
    </>
  );
}

export function FieldTable({ schema, ofAnswer = false }: { schema: DocumentedSchema; ofAnswer?: boolean }) {
  const object = innerObject(schema);
  if (object === undefined) {
    return (
      <p>
        <TypeName schema={schema} />
      </p>
    );
  }
  const ignored = Object.entries(object.properties ?? {})
    .filter(([, field]) => isIgnored(field))
    .map(([name]) => `\`${name}\``);
  return (
    <>
      <ul class="fields">
        <FieldItems schema={object} prefix="" ofAnswer={ofAnswer} />
      </ul>
      {ignored.length === 0 ? null : <p>{inline(`Ignored in requests: ${ignored.join(', ')}.`)}</p>}
    </>
  );
}
