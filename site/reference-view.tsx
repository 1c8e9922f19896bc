/** The index of the reference: all rules, operations, event types and schemas. */
import type { OpenApiDocument } from '../src/api/openapi/document.ts';
import { eventPath, operationPath, rulesPath, schemaPath } from './addresses.ts';
import { DOCS } from './assets.ts';
import type { Group } from './groups.ts';
import { Index, Method, type Section, SectionHeading } from './layout.tsx';
import { blocks, inline } from './markdown.ts';

const OPERATIONS = { id: 'operations', title: 'Operations' };
const EVENT_TYPES = { id: 'event-types', title: 'Event types' };
const SCHEMAS = { id: 'schemas', title: 'Schemas' };
const RULES = { id: 'rules', title: 'Rules that all operations share' };

export const referenceSections: readonly Section[] = [RULES, OPERATIONS, EVENT_TYPES, SCHEMAS];

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

function Names({ names, pathOf }: { names: readonly string[]; pathOf: (name: string) => string }) {
  return <Index places={names.map((title) => ({ path: pathOf(title), title }))} />;
}

export function Reference({
  document,
  groups,
  rules,
}: {
  document: OpenApiDocument;
  groups: readonly Group[];
  rules: readonly string[];
}) {
  const schemas = Object.keys(document.components.schemas).sort((a, b) => a.localeCompare(b));
  return (
    <>
      <h1>Reference</h1>
      <p>
        Examples read the service's address, the API key and the token from <code>$WAYBILL_URL</code>,{' '}
        <code>$API_KEY</code> and <code>$TOKEN</code>: set them in the environment, and every example can be
        pasted. An instance serves its own OpenAPI 3.1 document at <code>/openapi.json</code>, with its
        address and marketplaces.
      </p>
      <SectionHeading {...RULES} />
      <Names names={rules} pathOf={rulesPath} />
      <SectionHeading {...OPERATIONS} />
      <Operations groups={groups} />
      <SectionHeading {...EVENT_TYPES} />
      <p>
        The <a href={`${DOCS}/events`}>event catalogue</a> has a sample of each in both versions.
      </p>
      <Names names={Object.keys(document.webhooks)} pathOf={eventPath} />
      <SectionHeading {...SCHEMAS} />
      <Names names={schemas} pathOf={schemaPath} />
    </>
  );
}
