/** A request in four languages, ready to paste: address, key and token come from the environment. */
import { IDEMPOTENCY_KEY } from '../src/api/idempotency.ts';
import type { DocumentedOperation } from '../src/api/openapi/document.ts';
import type { Snippet } from './code-view.tsx';

interface ExampleRequest {
  readonly method: string;
  /** With the values of its parameters, percent-encoded. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly withToken: boolean;
  /** Whether it takes an `Idempotency-Key`. */
  readonly keyed: boolean;
  readonly contentType: string | null;
  readonly body: unknown;
}

const NDJSON = 'application/x-ndjson';

function requestOf(method: string, path: string, operation: DocumentedOperation): ExampleRequest {
  const { parameters = [], requestBody, security } = operation;
  const given = parameters.flatMap(({ name, in: where, example }) =>
    example === undefined ? [] : [{ name, where, value: String(example) }],
  );
  const [contentType, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return {
    method: method.toUpperCase(),
    path: path.replaceAll(/\{(\w+)\}/g, (whole, name) => {
      const found = given.find((each) => each.where === 'path' && each.name === name);
      return found === undefined ? whole : encodeURIComponent(found.value);
    }),
    query: Object.fromEntries(
      given.filter(({ where }) => where === 'query').map(({ name, value }) => [name, value]),
    ),
    withToken: security === undefined || security.some((each) => 'token' in each),
    keyed: parameters.some(({ name }) => name === IDEMPOTENCY_KEY),
    contentType: contentType ?? null,
    body: media?.example,
  };
}

function target({ path, query }: ExampleRequest): string {
  const text = String(new URLSearchParams(query));
  return text === '' ? path : `${path}?${text}`;
}

function indented(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}

const json = (value: unknown) => JSON.stringify(value ?? {}, null, 2);

function curl(request: ExampleRequest): string {
  const { method, withToken, keyed, contentType, body } = request;
  const text = contentType === NDJSON ? JSON.stringify(body) : json(body);
  const url = `"$WAYBILL_URL${target(request)}"`;
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${url}`,
    `-H "x-api-key: $API_KEY"`,
    ...(withToken ? ['-H "authorization: Bearer $TOKEN"'] : []),
    ...(keyed ? [`-H "${IDEMPOTENCY_KEY}: $(openssl rand -hex 16)"`] : []),
    ...(contentType === null ? [] : [`-H 'content-type: ${contentType}'`]),
    ...(contentType === null ? [] : [`--data-binary '${text.replaceAll("'", "'\\''")}'`]),
  ];
  return lines.join(' \\\n  ');
}

function node(request: ExampleRequest): string {
  const { method, withToken, keyed, contentType, body } = request;
  const names = ['WAYBILL_URL', 'API_KEY', ...(withToken ? ['TOKEN'] : [])];
  const lines = contentType === NDJSON;
  const headers = [
    "'x-api-key': API_KEY,",
    ...(withToken ? ['authorization: `Bearer $' + '{TOKEN}`,'] : []),
    ...(keyed ? [`'${IDEMPOTENCY_KEY}': crypto.randomUUID(),`] : []),
    ...(contentType === null ? [] : [`'content-type': '${contentType}',`]),
  ];
  const sent = lines
    ? `\`$\{JSON.stringify(${indented(json(body), 2)})}\\n\``
    : `JSON.stringify(${indented(json(body), 2)})`;
  return `const { ${names.join(', ')} } = process.env;

const response = await fetch(\`$\{WAYBILL_URL}${target(request)}\`, {
  method: '${method}',
  headers: {
    ${headers.join('\n    ')}
  },${contentType === null ? '' : `\n  body: ${sent},`}
});
console.log(response.status, await response.${lines ? 'text' : 'json'}());
`;
}

function pythonValue(value: unknown, indent: number): string {
  const [inner, outer] = [' '.repeat(indent + 4), ' '.repeat(indent)];
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((each) => `${inner}${pythonValue(each, indent + 4)},\n`).join('')}${outer}]`;
  }
  if (typeof value === 'object') {
    const fields = Object.entries(value).map(
      ([name, each]) => `${inner}${JSON.stringify(name)}: ${pythonValue(each, indent + 4)},\n`,
    );
    return fields.length === 0 ? '{}' : `{\n${fields.join('')}${outer}}`;
  }
  return JSON.stringify(value);
}

function python(request: ExampleRequest): string {
  const { method, path, query, withToken, keyed, contentType, body } = request;
  const lines = contentType === NDJSON;
  const headers = [
    '"x-api-key": os.environ["API_KEY"],',
    ...(withToken ? [`"authorization": f"Bearer {os.environ['TOKEN']}",`] : []),
    ...(keyed ? [`"${IDEMPOTENCY_KEY}": str(uuid.uuid4()),`] : []),
    ...(lines ? [`"content-type": "${contentType}",`] : []),
  ];
  const sent = lines
    ? `\n    data=json.dumps(${pythonValue(body, 4)}) + "\\n",`
    : `\n    json=${pythonValue(body, 4)},`;
  return `${lines ? 'import json\n' : ''}import os${keyed ? '\nimport uuid' : ''}

import requests

response = requests.${method.toLowerCase()}(
    os.environ["WAYBILL_URL"] + "${path}",${Object.keys(query).length === 0 ? '' : `\n    params=${pythonValue(query, 4)},`}
    headers={
        ${headers.join('\n        ')}
    },${contentType === null ? '' : sent}
    timeout=30,
)
print(response.status_code, response.${lines ? 'text' : 'json()'})
`;
}

function phpText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function phpValue(value: unknown, indent: number): string {
  const [inner, outer] = [' '.repeat(indent + 4), ' '.repeat(indent)];
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return phpText(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((each) => `${inner}${phpValue(each, indent + 4)},\n`).join('')}${outer}]`;
  }
  if (typeof value === 'object') {
    const fields = Object.entries(value).map(
      ([name, each]) => `${inner}${phpText(name)} => ${phpValue(each, indent + 4)},\n`,
    );
    return fields.length === 0 ? 'new stdClass()' : `[\n${fields.join('')}${outer}]`;
  }
  return String(value);
}

function php(request: ExampleRequest): string {
  const { method, withToken, keyed, contentType, body } = request;
  const lines = contentType === NDJSON;
  const headers = [
    "'x-api-key: ' . getenv('API_KEY'),",
    ...(withToken ? ["'authorization: Bearer ' . getenv('TOKEN'),"] : []),
    ...(keyed ? [`'${IDEMPOTENCY_KEY}: ' . bin2hex(random_bytes(16)),`] : []),
    ...(contentType === null ? [] : [`'content-type: ${contentType}',`]),
  ];
  const sent =
    contentType === null
      ? ''
      : `\n    CURLOPT_POSTFIELDS => json_encode(${phpValue(body, 4)})${lines ? ' . "\\n"' : ''},`;
  return `<?php
$request = curl_init(getenv('WAYBILL_URL') . ${phpText(target(request))});
curl_setopt_array($request, [
    CURLOPT_CUSTOMREQUEST => '${method}',
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => [
        ${headers.join('\n        ')}
    ],${sent}
]);
$body = curl_exec($request);
echo curl_getinfo($request, CURLINFO_RESPONSE_CODE), ' ', $body, "\\n";
`;
}

export function snippetsOf(method: string, path: string, operation: DocumentedOperation): Snippet[] {
  const request = requestOf(method, path, operation);
  return [
    { label: 'curl', language: 'bash', text: curl(request) },
    { label: 'Node.js', language: 'javascript', text: node(request) },
    { label: 'Python', language: 'python', text: python(request) },
    { label: 'PHP', language: 'php', text: php(request) },
  ];
}
