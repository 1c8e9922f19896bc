/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/**
 * An operation as the documentation page shows it.
 * @module
 */
import { anchor, blocks, inline } from './markdown.ts';
import type { DocumentedOperation } from './openapi.ts';
import { FieldTable, limitsOf, TypeName } from './schema-view.tsx';

/** An operation and where it is. */
export interface LocatedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

/** The id of an operation on the page. */
export function operationId({ method, path }: LocatedOperation): string {
  return anchor(`${method} ${path}`);
}

/** The method of an operation, in its colour. */
export function Method({ method }: { method: string }) {
  return <span class={`method ${method}`}>{method.toUpperCase()}</span>;
}

function Parameters({ operation: { parameters = [] } }: { operation: DocumentedOperation }) {
  if (parameters.length === 0) return null;
  const rows = parameters.map(({ name, in: where, required, description, schema }) => (
    <tr>
      <td>
        <code>{name}</code>
      </td>
      <td>{where}</td>
      <td>
        <TypeName schema={schema} />
      </td>
      <td>
        {required === true ? <strong>required</strong> : null} {inline(description ?? '')}{' '}
        {inline(limitsOf(schema ?? {}))}
      </td>
    </tr>
  ));
  return (
    <>
      <h4>Parameters</h4>
      <table>
        <tbody>{rows}</tbody>
      </table>
    </>
  );
}

function Bodies({ operation }: { operation: DocumentedOperation }) {
  const bodies = Object.entries(operation.requestBody?.content ?? {}).map(([type, { schema }]) => (
    <>
      <h4>
        Body <span class="quiet">{type}</span>
      </h4>
      {(schema?.anyOf ?? [schema ?? {}]).map((variant) =>
        variant.$ref === undefined ? (
          <FieldTable schema={variant} />
        ) : (
          <p>
            <TypeName schema={variant} />
          </p>
        ),
      )}
    </>
  ));
  return <>{bodies}</>;
}

function ResponseData({ operation }: { operation: DocumentedOperation }) {
  const data = operation.responses?.['200']?.content?.['application/json']?.schema?.properties?.data;
  if (data === undefined) return null;
  return (
    <>
      <h4>Response</h4>
      <p>
        <code>data</code>: <TypeName schema={data} />
      </p>
    </>
  );
}

function StatusCodes({ operation }: { operation: DocumentedOperation }) {
  const rows = Object.entries(operation.responses ?? {}).map(([status, { description }]) => (
    <tr>
      <td>
        <code>{status}</code>
      </td>
      <td>{inline(description ?? '')}</td>
    </tr>
  ));
  return (
    <details>
      <summary>Status codes</summary>
      <table>
        <tbody>{rows}</tbody>
      </table>
    </details>
  );
}

/** Everything about one operation. */
export function Operation({ located }: { located: LocatedOperation }) {
  const { method, path, operation } = located;
  return (
    <article id={operationId(located)}>
      <h3>
        <Method method={method} /> <code>{path}</code>
      </h3>
      <p>
        <strong>{inline(operation.summary ?? '')}.</strong>
      </p>
      {blocks(operation.description ?? '')}
      <Parameters operation={operation} />
      <Bodies operation={operation} />
      <ResponseData operation={operation} />
      <StatusCodes operation={operation} />
    </article>
  );
}
