/**
 * The documentation page: made from the OpenAPI document alone, one file, nothing fetched from elsewhere.
 * @module
 */
import { anchor, escapeHtml, inlineMarkdown, markdown } from './markdown.ts';
import type { DocumentedOperation, DocumentedSchema, OpenApiDocument } from './openapi.ts';
import {
  loginWithCurl,
  verifyServiceSignature,
  verifyStandardSignature,
  verifyWithLibrary,
} from './receiver-code.ts';
import { style } from './style.ts';

const code = (text: string) => `<pre><code>${escapeHtml(text.trim())}</code></pre>`;

function refName(ref: string): string {
  return ref.split('/').at(-1) ?? ref;
}

function schemaLink(ref: string): string {
  const name = refName(ref);
  return `<a href="#schema-${anchor(name)}">${escapeHtml(name)}</a>`;
}

/** The type of a schema in a few words, as HTML. */
function typeOf(schema: DocumentedSchema | undefined): string {
  if (schema === undefined) return 'any';
  if (schema.$ref !== undefined) return schemaLink(schema.$ref);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return alternatives.map(typeOf).join(' or ');
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`;
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  const type = typeof schema.type === 'string' ? schema.type : (schema.type?.join(' or ') ?? 'any');
  return escapeHtml(schema.format === undefined ? type : `${type} (${schema.format})`);
}

function shortestOf(minLength: number): string {
  if (minLength === 0) return '';
  return minLength === 1 ? 'Not empty.' : `At least ${minLength} characters.`;
}

function limitsOf(schema: DocumentedSchema): string {
  const limits = [
    schema.enum === undefined ? '' : `One of ${schema.enum.map((value) => `\`${value}\``).join(', ')}.`,
    // That an optional field is null where it is left out goes without saying.
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

/** The object inside a schema that may be a list or nullable, where it is written on the spot. */
function innerObject(schema: DocumentedSchema | undefined): DocumentedSchema | undefined {
  if (schema === undefined || schema.$ref !== undefined) return undefined;
  if (schema.properties !== undefined) return schema;
  if (schema.items !== undefined) return innerObject(schema.items);
  return (schema.anyOf ?? schema.oneOf)?.map(innerObject).find((inner) => inner !== undefined);
}

/** A schema and, where it is nullable, the one inside: what is said of a field may stand in either. */
function sayings<T>(
  schema: DocumentedSchema,
  said: (part: DocumentedSchema) => T | undefined,
): T | undefined {
  const own = said(schema);
  if (own !== undefined) return own;
  const parts = [
    ...(schema.anyOf ?? schema.oneOf ?? []),
    ...(schema.items === undefined ? [] : [schema.items]),
  ];
  return parts.map((part) => sayings(part, said)).find((found) => found !== undefined);
}

function fieldRows(schema: DocumentedSchema, prefix: string): string[] {
  const shown = Object.entries(schema.properties ?? {}).filter(([, { readOnly }]) => readOnly !== true);
  return shown.flatMap(([name, field]) => {
    const inside = field.anyOf?.find(({ type }) => type !== 'null');
    const notes = [
      schema.required?.includes(name) !== true ? '' : '<strong>required</strong>',
      markdown(sayings(field, ({ description }) => description) ?? ''),
      inlineMarkdown(limitsOf({ ...inside, ...field })),
    ];
    const inner = innerObject(field);
    const row = `<tr><td><code>${escapeHtml(prefix + name)}</code></td><td>${typeOf(field)}</td><td>${notes
      .filter((note) => note !== '' && note !== '<p></p>')
      .join(' ')}</td></tr>`;
    return [row, ...(inner === undefined ? [] : fieldRows(inner, `${prefix}${name}.`))];
  });
}

function fieldTable(schema: DocumentedSchema): string {
  const object = innerObject(schema);
  if (object === undefined) return `<p>${typeOf(schema)}</p>`;
  const rows = fieldRows(object, '');
  const ignored = Object.entries(object.properties ?? {})
    .filter(([, { readOnly }]) => readOnly === true)
    .map(([name]) => `\`${name}\``);
  const note =
    ignored.length === 0 ? '' : `<p>${inlineMarkdown(`Ignored in a request: ${ignored.join(', ')}.`)}</p>`;
  return `<table><thead><tr><th>Field</th><th>Type</th><th></th></tr></thead><tbody>${rows.join('')}</tbody></table>${note}`;
}

function parameterTable(operation: DocumentedOperation): string {
  const rows = (operation.parameters ?? []).map(
    ({ name, in: where, required, description, schema }) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${where}</td><td>${typeOf(schema)}</td><td>${
        required === true ? '<strong>required</strong> ' : ''
      }${inlineMarkdown(description ?? '')} ${inlineMarkdown(limitsOf(schema ?? {}))}</td></tr>`,
  );
  if (rows.length === 0) return '';
  return `<h4>Parameters</h4><table><tbody>${rows.join('')}</tbody></table>`;
}

function answerOf(operation: DocumentedOperation): string {
  const data = operation.responses?.['200']?.content?.['application/json']?.schema?.properties?.data;
  return data === undefined ? '' : `<h4>Answer</h4><p><code>data</code>: ${typeOf(data)}</p>`;
}

function statusList(operation: DocumentedOperation): string {
  const rows = Object.entries(operation.responses ?? {}).map(
    ([status, { description }]) =>
      `<tr><td><code>${escapeHtml(status)}</code></td><td>${inlineMarkdown(description ?? '')}</td></tr>`,
  );
  return `<details><summary>Statuses</summary><table><tbody>${rows.join('')}</tbody></table></details>`;
}

function requestOf(operation: DocumentedOperation): string {
  const bodies = Object.entries(operation.requestBody?.content ?? {});
  return bodies
    .map(([type, { schema }]) => {
      const variants = schema?.anyOf ?? [schema ?? {}];
      const described = variants.map((each) =>
        each.$ref === undefined ? fieldTable(each) : `<p>${typeOf(each)}</p>`,
      );
      return `<h4>Body <span class="quiet">${escapeHtml(type)}</span></h4>${described.join('')}`;
    })
    .join('');
}

function operationId(method: string, path: string): string {
  return anchor(`${method} ${path}`);
}

function operationArticle(method: string, path: string, operation: DocumentedOperation): string {
  return `<article id="${operationId(method, path)}">
<h3><span class="method ${method}">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code></h3>
<p><strong>${inlineMarkdown(operation.summary ?? '')}.</strong></p>
${markdown(operation.description ?? '')}
${parameterTable(operation)}${requestOf(operation)}${answerOf(operation)}${statusList(operation)}
</article>`;
}

function operationsOf(document: OpenApiDocument, tag: string): [string, string, DocumentedOperation][] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation.tags?.includes(tag) === true)
      .map(([method, operation]): [string, string, DocumentedOperation] => [method, path, operation]),
  );
}

/** All groups: the described ones in their order, then whatever else the operations name. */
function groupsOf(document: OpenApiDocument): { name: string; description: string }[] {
  const known = document.tags.map(({ name }) => name);
  const used = Object.values(document.paths).flatMap((path) =>
    Object.values(path).flatMap(({ tags = [] }) => tags),
  );
  const others = [...new Set(used)].filter((name) => !known.includes(name));
  return [...document.tags, ...others.map((name) => ({ name, description: '' }))];
}

function eventTable(document: OpenApiDocument): string {
  const rows = Object.entries(document.webhooks).map(([type, { post }]) => {
    const payload = post?.requestBody?.content['application/json']?.schema;
    return `<tr><td><code>${escapeHtml(type)}</code></td><td>${inlineMarkdown(post?.summary ?? '')}</td><td>${typeOf(payload)}</td></tr>`;
  });
  return `<table><thead><tr><th>webhookType</th><th>Fires</th><th>Payload (v2 or v21)</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

const verifying = `
<h3 id="verify-x-service-signature">Verify <code>X-Service-Signature</code> (POST and GET)</h3>${code(verifyServiceSignature)}
<h3 id="verify-webhook-signature">Verify <code>webhook-signature</code> (POST)</h3>${code(verifyWithLibrary)}
<p>Or without a library:</p>${code(verifyStandardSignature)}`;

/** Makes the page. */
export function makePage(document: OpenApiDocument): string {
  const groups = groupsOf(document);
  const sections = [...document.info.description.matchAll(/^## (.*)$/gm)].map(([, title = '']) => title);
  const schemas = Object.entries(document.components.schemas).sort(([a], [b]) => a.localeCompare(b));
  const link = (id: string, text: string) => `<li><a href="#${id}">${text}</a></li>`;
  const groupNav = groups.map(({ name }) => {
    const links = operationsOf(document, name).map(([method, path, { summary = path }]) =>
      link(
        operationId(method, path),
        `<span class="method ${method}">${method.toUpperCase()}</span>${escapeHtml(summary)}${path.startsWith('/v2/') ? ' <span class="quiet">v2</span>' : ''}`,
      ),
    );
    return `<strong>${escapeHtml(name)}</strong><ul>${links.join('')}</ul>`;
  });
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(document.info.title)}</title><style>${style}</style></head>
<body>
<nav><ul>${link('how-to-begin', 'How to begin')}${sections.map((title) => link(anchor(title), escapeHtml(title))).join('')}${link('event-kinds', 'Event kinds')}</ul>
${groupNav.join('')}
<strong>Schemas</strong><ul>${schemas.map(([name]) => link(`schema-${anchor(name)}`, escapeHtml(name))).join('')}</ul></nav>
<main>
<h1>${escapeHtml(document.info.title)}</h1>
<p class="quiet">Interface version ${escapeHtml(document.info.version)}. For machines: <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1).</p>
<h2 id="how-to-begin">How to begin</h2>${code(loginWithCurl)}
${markdown(document.info.description)}
${verifying}
<h2 id="event-kinds">Event kinds</h2>${eventTable(document)}
${groups
  .map(
    ({ name, description }) =>
      `<h2 id="group-${anchor(name)}">${escapeHtml(name)}</h2>${markdown(description)}${operationsOf(
        document,
        name,
      )
        .map(([method, path, operation]) => operationArticle(method, path, operation))
        .join('\n')}`,
  )
  .join('\n')}
<h2 id="schemas">Schemas</h2>
${schemas
  .map(
    ([name, schema]) =>
      `<article id="schema-${anchor(name)}"><h3>${escapeHtml(name)}</h3>${markdown(schema.description ?? '')}${fieldTable(schema)}</article>`,
  )
  .join('\n')}
</main>
</body>
</html>
`;
}
