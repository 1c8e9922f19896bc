/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The first page of the documentation: where to begin, and an index. */

import type { OpenApiDocument } from '../src/api/openapi/document.ts';
import { eventPath, operationPath, rulesPath, schemaPath } from './addresses.ts';
import { DOCS } from './assets.ts';
import type { DocumentPage, Documents } from './documents.ts';
import type { Group } from './groups.ts';
import { Method } from './layout.tsx';
import { blocks, inline } from './markdown.ts';
import { beginningOf } from './search-index.ts';

export const WHAT_IT_IS =
  'The service calls your webhooks when your orders, products, receivings, returns or stock change. It signs what it sends, retries for 48 hours, and can tell you what became of every event.';

function Cards({ pages }: { pages: readonly DocumentPage[] }) {
  return (
    <ul class="cards">
      {pages.map(({ path, title, summary }) => (
        <li>
          <a href={path}>{title}</a>
          <p>{beginningOf(summary, 180)}</p>
        </li>
      ))}
    </ul>
  );
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
  documents: { guides, handbook, whole, decisions },
  rules,
}: {
  document: OpenApiDocument;
  groups: readonly Group[];
  documents: Documents;
  rules: readonly string[];
}) {
  const { title, version } = document.info;
  const schemas = Object.keys(document.components.schemas).sort((a, b) => a.localeCompare(b));
  return (
    <>
      <h1>{title}</h1>
      <p class="lead">{WHAT_IT_IS}</p>
      <p class="quiet">
        Interface version {version}. For machines: <a href={`${DOCS}/openapi.json`}>openapi.json</a> (OpenAPI
        3.1; an instance serves its own at <code>/openapi.json</code>, with its address and marketplaces) and{' '}
        <a href={`${DOCS}/llms.txt`}>llms.txt</a>.
      </p>
      <h2 id="guides">Guides</h2>
      <Cards pages={guides} />
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
      <h2 id="operators">For operators</h2>
      <Cards pages={[...handbook.slice(0, 1), ...whole, ...decisions.slice(0, 1)]} />
    </>
  );
}
