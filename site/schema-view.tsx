/** @jsxRuntime automatic @jsxImportSource hono/jsx */
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

function shortestOf(minLength: number): string {
  if (minLength === 0) return '';
  return minLength === 1 ? 'Not empty.' : `At least ${minLength} characters.`;
}

/** The limits of a value, as sentences of Markdown. */
export function limitsOf(schema: DocumentedSchema): string {
  const limits = [
    schema.enum === undefined ? '' : `One of ${schema.enum.map((value) => `\`${value}\``).join(', ')}.`,
    // It goes without saying that an optional field that is left out is null.
    schema.default === undefined || schema.default === null
      ? ''
      : `Default \`${JSON.stringify(schema.default)}\`.`,
    shortestOf(schema.minLength ?? 0),
    schema.maxLength === undefined ? '' : `At most ${schema.maxLength} characters.`,
    schema.maxItems === undefined ? '' : `At most ${schema.maxItems} items.`,
    schema.minimum === undefined ? '' : `At least ${schema.minimum}.`,
    schema.maximum === undefined ? '' : `At most ${schema.maximum}.`,
  ];
  return limits.filter((limit) => limit !== '').join(' ');
}

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

function Field({
  name,
  field,
  required,
  prefix,
}: {
  name: string;
  field: DocumentedSchema;
  required: boolean;
  prefix: string;
}) {
  const inside = field.anyOf?.find(({ type }) => type !== 'null');
  const description = descriptionOf(field) ?? '';
  const limits = limitsOf({ ...inside, ...field });
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
          {required ? <span class="required"> required</span> : null}
        </p>
        {description === '' ? null : <div>{blocks(description)}</div>}
        {limits === '' ? null : <p class="limits">{inline(limits)}</p>}
      </li>
      {inner === undefined || !deeper ? null : <FieldItems schema={inner} prefix={`${prefix}${name}.`} />}
    </>
  );
}

/** A response-only field: as part of a request it has no type. */
function isIgnored({ readOnly, type }: DocumentedSchema): boolean {
  return readOnly === true && type === undefined;
}

function FieldItems({ schema, prefix }: { schema: DocumentedSchema; prefix: string }) {
  const shown = Object.entries(schema.properties ?? {}).filter(([, field]) => !isIgnored(field));
  return (
    <>
      {shown.map(([name, field]) => (
        <Field
          name={name}
          field={field}
          required={schema.required?.includes(name) === true}
          prefix={prefix}
        />
      ))}
    </>
  );
}

export function FieldTable({ schema }: { schema: DocumentedSchema }) {
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
        <FieldItems schema={object} prefix="" />
      </ul>
      {ignored.length === 0 ? null : <p>{inline(`Ignored in requests: ${ignored.join(', ')}.`)}</p>}
    </>
  );
}
