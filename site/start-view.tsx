/** The first page of the documentation: where to begin, on one screen. */
import type { Child } from 'hono/jsx';
import type { OpenApiDocument } from '../src/api/openapi/document.ts';
import { referencePath } from './addresses.ts';
import { DOCS } from './assets.ts';
import type { Documents } from './documents.ts';
import { Index } from './layout.tsx';

export const WHAT_IT_IS =
  'The service calls your webhooks when your orders, products, receivings, returns or stock change. It signs what it sends, retries for 48 hours, and can tell you what became of every event.';

function Card({ path, title, children }: { path: string; title: string; children: Child }) {
  return (
    <li>
      <a href={path}>{title}</a>
      <p>{children}</p>
    </li>
  );
}

export function Start({ document, documents }: { document: OpenApiDocument; documents: Documents }) {
  const { guides, handbook, whole, decisions } = documents;
  const { title, version } = document.info;
  return (
    <>
      <h1>{title}</h1>
      <p class="lead">{WHAT_IT_IS}</p>
      <ul class="cards beginnings">
        <Card path={`${DOCS}/guides/quickstart`} title="Quickstart">
          From an API key to a first signed delivery, in six steps.
        </Card>
        <Card path={referencePath} title="Reference">
          Every operation, its fields and its errors, with examples to paste.
        </Card>
        <Card path={`${DOCS}/events`} title="Event catalogue">
          What is sent, and when: a sample of each event type.
        </Card>
      </ul>
      <h2 id="guides">Guides</h2>
      <Index named=" titles" places={guides} />
      <h2 id="operators">For operators</h2>
      <Index named=" titles" places={[...handbook.slice(0, 1), ...whole, ...decisions.slice(0, 1)]} />
      <p class="quiet">
        Interface version {version}. For machines: <a href={`${DOCS}/openapi.json`}>openapi.json</a> and{' '}
        <a href={`${DOCS}/llms.txt`}>llms.txt</a>.
      </p>
    </>
  );
}
