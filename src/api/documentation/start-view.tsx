/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/**
 * The first page of the documentation: where to begin, and an index. Anchors of texts that used to be here lead to their
 * new pages.
 */
import type { Child } from 'hono/jsx';
import { eventPath, operationAnchor, operationPath, rulesPath, schemaPath } from './addresses.ts';
import { DOCS } from './assets.ts';
import type { OpenApiDocument } from './document.ts';
import type { Group } from './groups.ts';
import { anchor, blocks, inline } from './markdown.ts';
import { Method } from './method.tsx';

interface NamedGuide {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
}

/** An entry that links to its own page; with scripts, visitors of its anchor are sent there at once. */
function Moved({ id, href, children }: { id: string; href: string; children: Child }) {
  return (
    <li id={id} data-moved={href}>
      <a href={href}>{children}</a>
    </li>
  );
}

/** Anchors of texts once on this page, and their new places. */
const earlier = [
  ['receive', 'what-a-receiver-gets'],
  ['verify-x-service-signature', 'how-to-verify-a-signature'],
  ['verify-webhook-signature', 'how-to-verify-a-signature'],
] as const;

function Operations({ groups }: { groups: readonly Group[] }) {
  return (
    <>
      {groups.map(({ name, description, operations }) => (
        <section>
          <h3 id={`group-${anchor(name)}`}>{name}</h3>
          {blocks(description)}
          <ul class="index">
            {operations.map(({ method, path, operation }) => (
              <Moved id={operationAnchor(method, path)} href={operationPath(method, path)}>
                <Method method={method} />
                <span>
                  {inline(operation.summary ?? path)} <code>{path}</code>
                </span>
              </Moved>
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
          <li id={name}>
            <a href={`${DOCS}/guides/${name}`}>{title}</a>
            <p>{summary}</p>
          </li>
        ))}
      </ul>
      <h2 id="rules">Rules of the interface</h2>
      <ul class="index">
        {rules.map((rule) => (
          <Moved id={anchor(rule)} href={rulesPath(rule)}>
            {rule}
          </Moved>
        ))}
      </ul>
      {earlier.map(([id, rule]) => (
        <span id={id} data-moved={`${DOCS}/rules/${rule}#${id}`} />
      ))}
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
          <Moved id={`schema-${anchor(name)}`} href={schemaPath(name)}>
            {name}
          </Moved>
        ))}
      </ul>
    </>
  );
}
