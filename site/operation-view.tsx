/** The page of an operation: its description, parameters and responses, with an example. */
import type { DocumentedOperation, DocumentedSchema, OpenApiDocument } from '../src/api/openapi/document.ts';
import { CodeBlock, Snippets } from './code-view.tsx';
import { Method, type Section, SectionHeading } from './layout.tsx';
import { blocks, inline } from './markdown.ts';
import { FieldTable, limitsOf, TypeName } from './schema-view.tsx';
import { snippetsOf } from './snippets.ts';

export interface LocatedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

const operationSections = {
  request: 'Request',
  response: 'Response',
  parameters: 'Parameters',
  body: 'Body',
  fields: 'Response fields',
  errors: 'Errors',
} as const;

type SectionId = keyof typeof operationSections;

function Heading({ id }: { id: SectionId }) {
  return <SectionHeading id={id} title={operationSections[id]} />;
}

function Parameters({ operation: { parameters = [] } }: { operation: DocumentedOperation }) {
  if (parameters.length === 0) return null;
  return (
    <>
      <Heading id="parameters" />
      <ul class="fields">
        {parameters.map(({ name, in: where, required, description, schema }) => (
          <li>
            <p class="name">
              <code>{name}</code>{' '}
              <span class="type">
                <TypeName schema={schema} /> in {where}
              </span>
              {required === true ? <span class="required"> required</span> : null}
            </p>
            {description === undefined ? null : <div>{blocks(description)}</div>}
            {limitsOf(schema ?? {}) === '' ? null : <p class="limits">{inline(limitsOf(schema ?? {}))}</p>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The schema that a reference names. */
function resolved(schema: DocumentedSchema, document: OpenApiDocument): DocumentedSchema {
  if (schema.$ref === undefined) return schema;
  return document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? schema;
}

function Bodies({ operation, document }: { operation: DocumentedOperation; document: OpenApiDocument }) {
  const bodies = Object.entries(operation.requestBody?.content ?? {});
  if (bodies.length === 0) return null;
  return (
    <>
      <Heading id="body" />
      {bodies.map(([type, { schema }]) => (
        <>
          <p class="quiet">{inline(`\`${type}\``)}</p>
          {(schema?.anyOf ?? [schema ?? {}]).map((variant) => (
            <FieldTable schema={resolved(variant, document)} />
          ))}
        </>
      ))}
    </>
  );
}

const successOf = (operation: DocumentedOperation) =>
  Object.values(operation.responses?.['200']?.content ?? {});

function SuccessResponse({ operation }: { operation: DocumentedOperation }) {
  return (
    <>
      <Heading id="response" />
      {successOf(operation).map(({ example }) =>
        example === undefined ? null : <CodeBlock language="json" text={JSON.stringify(example, null, 2)} />,
      )}
    </>
  );
}

/** The fields of `data`, and what else an answer has beside its status and message. */
function ResponseFields({
  operation,
  document,
}: {
  operation: DocumentedOperation;
  document: OpenApiDocument;
}) {
  return (
    <>
      <Heading id="fields" />
      {successOf(operation).map(({ schema = {} }) => {
        const { data, ...others } = schema.allOf?.[1]?.properties ?? {};
        // Each line of an import is answered without the envelope.
        if (data === undefined) return <FieldTable schema={schema} ofAnswer />;
        const item = data.items ?? data;
        const fields = resolved(item, document);
        return (
          <>
            <p>
              <code>data</code>: <TypeName schema={data} />
            </p>
            {fields.properties === undefined ? null : <FieldTable schema={fields} ofAnswer />}
            {Object.entries(others).map(([name, field]) => (
              <p>
                <code>{name}</code>: <TypeName schema={field} />
              </p>
            ))}
          </>
        );
      })}
    </>
  );
}

function Errors({ operation }: { operation: DocumentedOperation }) {
  const errors = Object.entries(operation.responses ?? {}).filter(([status]) => Number(status) >= 400);
  return (
    <>
      <Heading id="errors" />
      <ul class="fields">
        {errors.map(([status, { description = '' }]) => (
          <li class="status">
            <code>{status}</code> <span>{inline(description)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

export function sectionsOf({ operation }: LocatedOperation): Section[] {
  const absent = [
    ...((operation.parameters?.length ?? 0) === 0 ? ['parameters'] : []),
    ...(operation.requestBody === undefined ? ['body'] : []),
  ];
  const all = Object.entries(operationSections).map(([id, title]) => ({ id, title }));
  return all.filter(({ id }) => !absent.includes(id));
}

export function Operation({ located, document }: { located: LocatedOperation; document: OpenApiDocument }) {
  const { method, path, operation } = located;
  return (
    <>
      <h1>{inline(operation.summary ?? path)}</h1>
      <p class="endpoint">
        <Method method={method} /> <code>{path}</code>
      </p>
      {blocks(operation.description ?? '')}
      <Heading id="request" />
      <Snippets id="request-language" snippets={snippetsOf(method, path, operation)} />
      <SuccessResponse operation={operation} />
      <Parameters operation={operation} />
      <Bodies operation={operation} document={document} />
      <ResponseFields operation={operation} document={document} />
      <Errors operation={operation} />
    </>
  );
}
