/** The catalogue of events, and the page of each, with its payload in both versions. */
import type { DocumentedOperation, OpenApiDocument } from '../src/api/openapi/document.ts';
import { eventPath, operationPath } from './addresses.ts';
import { CodeBlock, Snippets } from './code-view.tsx';
import { Breakable, SectionHeading } from './layout.tsx';
import { blocks, inline } from './markdown.ts';
import { FieldTable, TypeName } from './schema-view.tsx';

type Webhook = Readonly<Record<string, DocumentedOperation>>;

function mediaOf({ post }: Webhook) {
  return Object.values(post?.requestBody?.content ?? {})[0];
}

function EventTable({ webhooks }: { webhooks: OpenApiDocument['webhooks'] }) {
  return (
    <div class="scroll" tabindex={0}>
      <table>
        <thead>
          <tr>
            <th>webhookType</th>
            <th>Fired</th>
            <th>Payload (v2 or v21)</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(webhooks).map(([type, webhook]) => (
            <tr>
              <td>
                <a href={eventPath(type)}>
                  <code>
                    <Breakable name={type} />
                  </code>
                </a>
              </td>
              <td>{inline(webhook.post?.summary ?? '')}</td>
              <td>
                <TypeName schema={mediaOf(webhook)?.schema} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function EventCatalogue({ document }: { document: OpenApiDocument }) {
  return (
    <>
      <h1>Event catalogue</h1>
      <p>
        Every event type that a webhook can be registered for, with a sample of what it delivers in both
        versions. The same samples are sent by{' '}
        <a href={operationPath('post', '/v21/webhooks/{id}/test')}>a test</a>, and come with the receiver's
        kit.
      </p>
      <EventTable webhooks={document.webhooks} />
    </>
  );
}

function Headers({ operation }: { operation: DocumentedOperation | undefined }) {
  return (
    <ul class="fields">
      {(operation?.parameters ?? []).map(({ name, description, schema }) => (
        <li>
          <p class="name">
            <code>{name}</code>{' '}
            <span class="type">
              <TypeName schema={schema} />
            </span>
          </p>
          <p>{inline(description ?? '')}</p>
        </li>
      ))}
    </ul>
  );
}

export function EventPage({
  type,
  webhook,
  document,
}: {
  type: string;
  webhook: Webhook;
  document: OpenApiDocument;
}) {
  const media = mediaOf(webhook);
  const samples = Object.entries(media?.examples ?? {}).map(([version, { value }]) => ({
    label: version,
    language: 'json',
    text: JSON.stringify(value, null, 2),
  }));
  const refs = media?.schema?.anyOf ?? [];
  const last = document.components.schemas[refs.at(-1)?.$ref?.split('/').at(-1) ?? ''];
  return (
    <>
      <h1>
        <Breakable name={type} />
      </h1>
      <p>{inline(webhook.post?.summary ?? '')}.</p>
      <SectionHeading id="sample" title="Sample" />
      {samples.length < 2 ? (
        samples.map(({ text }) => <CodeBlock language="json" text={text} />)
      ) : (
        <Snippets id="version" named="Payload version" snippets={samples} />
      )}
      {blocks(webhook.get?.description ?? '')}
      <SectionHeading id="headers" title="Headers" />
      <Headers operation={webhook.post} />
      <SectionHeading id="fields" title="Fields" />
      <p>
        <TypeName schema={media?.schema} />
      </p>
      {last === undefined ? null : <FieldTable schema={last} />}
    </>
  );
}
