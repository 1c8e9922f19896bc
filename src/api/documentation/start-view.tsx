/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The first page of the documentation: where to begin, and an index. */
import { eventPath, operationPath, rulesPath, schemaPath } from './addresses.ts';
import { DOCS } from './assets.ts';
import type { OpenApiDocument } from './document.ts';
import type { Group } from './groups.ts';
import { Method } from './layout.tsx';
import { blocks, inline } from './markdown.ts';

interface NamedGuide {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
}

function Operations({ groups }: { groups: readonly Group[] }) {
  return (
    <>
      {groups.map(({ name, description, operations }) => (
        <section>
          <h3>{name}</h3>
          {blocks(description)}
          <ul class="index">
            {operations.map(({ method, path, operation }) => (
              <li>
                <a href={operationPath(method, path)}>
                  <Method method={method} />
                  <span>
                    {inline(operation.summary ?? path)} <code>{path}</code>
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

export function Start({
  document,
  groups,
  guides,
  rules,
}: {
  document: OpenApiDocument;
  groups: readonly Group[];
  guides: readonly NamedGuide[];
  rules: readonly string[];
}) {
  const { title, version } = document.info;
  const schemas = Object.keys(document.components.schemas).sort((a, b) => a.localeCompare(b));
  return (
    <>
      <h1>{title}</h1>
      <p class="lead">
        The service calls your webhooks when your orders, products, receivings, returns or stock change. It
        signs what it sends, retries for 48 hours, and can tell you what became of every event.
      </p>
      <p class="quiet">
        Interface version {version}. For machines: <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1).
      </p>
      <h2 id="guides">Guides</h2>
      <ul class="cards">
        {guides.map(({ name, title, summary }) => (
          <li>
            <a href={`${DOCS}/guides/${name}`}>{title}</a>
            <p>{summary}</p>
          </li>
        ))}
      </ul>
      <h2 id="rules">Rules of the interface</h2>
      <ul class="index">
        {rules.map((rule) => (
          <li>
            <a href={rulesPath(rule)}>{rule}</a>
          </li>
        ))}
      </ul>
      <h2 id="reference">Reference</h2>
      <p>
        Examples read the service's address, the API key and the token from <code>$WAYBILL_URL</code>,{' '}
        <code>$API_KEY</code> and <code>$TOKEN</code>: set them in the environment, and every example can be
        pasted.
      </p>
      <Operations groups={groups} />
      <h2 id="event-types">Event types</h2>
      <p>
        The <a href={`${DOCS}/events`}>event catalogue</a> has a sample of each in both versions.
      </p>
      <ul class="index columns">
        {Object.keys(document.webhooks).map((type) => (
          <li>
            <a href={eventPath(type)}>{type}</a>
          </li>
        ))}
      </ul>
      <h2 id="schemas">Schemas</h2>
      <ul class="index columns">
        {schemas.map((name) => (
          <li>
            <a href={schemaPath(name)}>{name}</a>
          </li>
        ))}
      </ul>
    </>
  );
}
