/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/**
 * The documentation page: made from the OpenAPI document alone, one file, nothing fetched from elsewhere.
 * @module
 */
import { raw } from 'hono/html';
import { anchor, blocks, inline } from './markdown.ts';
import type { OpenApiDocument } from './openapi.ts';
import { type LocatedOperation, Method, Operation, operationId } from './operation-view.tsx';
import {
  loginWithCurl,
  receiverWithKit,
  verifyServiceSignature,
  verifyStandardSignature,
  verifyWithLibrary,
} from './receiver-code.ts';
import { FieldTable, schemaId, TypeName } from './schema-view.tsx';
import { style } from './style.ts';

interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly LocatedOperation[];
}

/** All groups: the described ones in their order, then whatever else the operations name. */
function groupsOf({ paths, tags }: OpenApiDocument): Group[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const known = tags.map(({ name }) => name);
  const used = new Set(all.flatMap(({ operation }) => operation.tags ?? []));
  const others = [...used].filter((name) => !known.includes(name));
  return [...tags, ...others.map((name) => ({ name, description: '' }))].map((group) => ({
    ...group,
    operations: all.filter(({ operation }) => operation.tags?.includes(group.name) === true),
  }));
}

function Code({ text }: { text: string }) {
  return (
    <pre>
      <code>{text.trim()}</code>
    </pre>
  );
}

function SectionLinks({ document }: { document: OpenApiDocument }) {
  const titles = [...document.info.description.matchAll(/^## (.*)$/gm)].map(([, title = '']) => title);
  return (
    <ul>
      {['Quickstart', ...titles, 'Event types'].map((title) => (
        <li>
          <a href={`#${anchor(title)}`}>{title}</a>
        </li>
      ))}
    </ul>
  );
}

function GroupLinks({ group: { name, operations } }: { group: Group }) {
  return (
    <>
      <strong>{name}</strong>
      <ul>
        {operations.map((located) => (
          <li>
            <a href={`#${operationId(located)}`}>
              <Method method={located.method} />
              {located.operation.summary ?? located.path}
              {located.path.startsWith('/v2/') ? [' ', <span class="quiet">v2</span>] : null}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function EventTable({ webhooks }: OpenApiDocument) {
  const rows = Object.entries(webhooks).map(([type, { post }]) => (
    <tr>
      <td>
        <code>{type}</code>
      </td>
      <td>{inline(post?.summary ?? '')}</td>
      <td>
        <TypeName schema={post?.requestBody?.content['application/json']?.schema} />
      </td>
    </tr>
  ));
  return (
    <table>
      <thead>
        <tr>
          <th>webhookType</th>
          <th>Fired</th>
          <th>Payload (v2 or v21)</th>
        </tr>
      </thead>
      <tbody>{rows}</tbody>
    </table>
  );
}

function Introduction({ document }: { document: OpenApiDocument }) {
  return (
    <>
      <h2 id={anchor('Quickstart')}>Quickstart</h2>
      <Code text={loginWithCurl} />
      {blocks(document.info.description)}
      <h3 id="receive">Receive</h3>
      <p>
        With the package <code>waybill-receiver</code>, which the operator has: it verifies both signatures,
        handles each delivery once, and finds what never came. It has recipes for Python, PHP, Go, Java and
        Ruby, and test vectors for receivers of your own.
      </p>
      <Code text={receiverWithKit} />
      <h3 id="verify-x-service-signature">
        Without it: verify <code>X-Service-Signature</code> (POST and GET)
      </h3>
      <Code text={verifyServiceSignature} />
      <h3 id="verify-webhook-signature">
        Verify <code>webhook-signature</code> (POST)
      </h3>
      <Code text={verifyWithLibrary} />
      <p>Or without a library:</p>
      <Code text={verifyStandardSignature} />
      <h2 id={anchor('Event types')}>Event types</h2>
      <EventTable {...document} />
    </>
  );
}

function Page({ document }: { document: OpenApiDocument }) {
  const { title, version } = document.info;
  const groups = groupsOf(document);
  const schemas = Object.entries(document.components.schemas).sort(([a], [b]) => a.localeCompare(b));
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <style>{raw(style)}</style>
      </head>
      <body>
        <nav>
          <SectionLinks document={document} />
          {groups.map((group) => (
            <GroupLinks group={group} />
          ))}
          <strong>Schemas</strong>
          <ul>
            {schemas.map(([name]) => (
              <li>
                <a href={`#${schemaId(name)}`}>{name}</a>
              </li>
            ))}
          </ul>
        </nav>
        <main>
          <h1>{title}</h1>
          <p class="quiet">
            Interface version {version}. For machines: <a href="/openapi.json">/openapi.json</a> (OpenAPI
            3.1).
          </p>
          <Introduction document={document} />
          {groups.map(({ name, description, operations }) => (
            <>
              <h2 id={`group-${anchor(name)}`}>{name}</h2>
              {blocks(description)}
              {operations.map((located) => (
                <Operation located={located} />
              ))}
            </>
          ))}
          <h2 id="schemas">Schemas</h2>
          {schemas.map(([name, schema]) => (
            <article id={schemaId(name)}>
              <h3>{name}</h3>
              {blocks(schema.description ?? '')}
              <FieldTable schema={schema} />
            </article>
          ))}
        </main>
      </body>
    </html>
  );
}

/** Makes the page, as HTML. */
export function makePage(document: OpenApiDocument): string {
  return `<!doctype html>\n${<Page document={document} />}\n`;
}
