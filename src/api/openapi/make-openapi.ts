/** The OpenAPI 3.1 document: the operations as described by their routes, and the parts that all share. */
import type { Hono } from 'hono';
import { generateSpecs } from 'hono-openapi';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { errorContent } from '../describe.ts';
import { reasonPhrase } from '../errors.ts';
import { IDEMPOTENCY_KEY } from '../idempotency.ts';
import { describeSchema } from '../json-schema.ts';
import { Pagination } from '../pagination.ts';
import type { DocumentedOperation, OpenApiDocument } from './document.ts';
import { authentication, conventions, events, receiving, tags, versions } from './texts.ts';
import { describeWebhooks } from './webhooks.ts';
import { mapValues, withExamples } from './with-examples.ts';

const envelopeSchema = {
  type: 'object',
  description: 'What every successful response has besides its `data`.',
  required: ['statusCode', 'message'],
  properties: {
    statusCode: { type: 'integer', const: 200 },
    message: { type: 'string', description: 'What was done, in words.' },
  },
};

const errorSchema = {
  type: 'object',
  required: ['statusCode', 'error', 'message'],
  properties: {
    statusCode: { type: 'integer', description: 'The HTTP status code.' },
    error: { type: 'string', description: 'The standard reason phrase of the status code.' },
    message: { type: 'string', description: 'What is wrong, in words; names every problem at once.' },
  },
};

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The API key of the e-shop.' },
  token: {
    type: 'apiKey',
    in: 'header',
    name: 'authorization',
    description: 'The token from the login, with or without the scheme `Bearer` (in any case).',
  },
};

const shared: Readonly<Record<number, string>> = {
  400: 'failed validation, or malformed JSON; the message names every problem.',
  401: 'the API key or token is missing or invalid, or the token has expired.',
  403: 'the operation requires the role `warehouse`.',
  413: 'the body is larger than 1 MiB.',
  415: '`Content-Type` is not JSON.',
  409: 'the request with this `Idempotency-Key` is under way; `Retry-After` says when to try again.',
  422: 'the `Idempotency-Key` belongs to another request.',
  429: 'the e-shop has exceeded its budget; `Retry-After` says when to try again.',
  500: 'a failure of the service; quote `X-Request-Id` to the operator.',
  503: 'the service cannot reach its database, or its disk is full; try again shortly.',
};

const requestIdHeader = {
  description: 'Identifies this request in the log of the service.',
  schema: { type: 'string' },
};
const rateLimitHeaders = {
  'RateLimit-Policy': {
    description: "The e-shop's budget, in the format of draft-ietf-httpapi-ratelimit-headers.",
    schema: { type: 'string' },
  },
  RateLimit: { description: "What remains of the e-shop's budget.", schema: { type: 'string' } },
};
const replayedHeader = {
  description: '`true` if the request was executed before, and this is its first response.',
  schema: { type: 'string', const: 'true' },
};
const retryAfterHeader = {
  description: 'How long to wait, in seconds.',
  schema: { type: 'integer', minimum: 1 },
};

const acceptsKey = ({ parameters = [] }: DocumentedOperation) =>
  parameters.some(({ name }) => name === IDEMPOTENCY_KEY);

/** The statuses that an operation shares with others of its kind. */
function sharedStatuses(path: string, operation: DocumentedOperation): number[] {
  const hasBody = operation.requestBody !== undefined;
  const hasJson = operation.requestBody?.content['application/json'] !== undefined;
  const isChecked = hasBody || (operation.parameters?.length ?? 0) > 0;
  return [
    ...(isChecked ? [400] : []),
    401,
    ...(path.startsWith('/v21/warehouse/') ? [403] : []),
    ...(acceptsKey(operation) ? [409] : []),
    ...(hasJson ? [413, 415] : []),
    ...(acceptsKey(operation) ? [422] : []),
    429,
    500,
    503,
  ];
}

function complete(path: string, operation: DocumentedOperation): DocumentedOperation {
  const added = sharedStatuses(path, operation).map((status) => {
    const description = `${reasonPhrase(status)}: ${shared[status]}`;
    return [String(status), { description, content: errorContent }] as const;
  });
  const responses = { ...Object.fromEntries(added), ...operation.responses };
  const keyed = acceptsKey(operation);
  const admitted = operation.security === undefined;
  const withHeaders = mapValues(responses, (response, status) => {
    const waits = status === '429' || status === '503' || (keyed && status === '409');
    const retryAfter = waits ? { 'Retry-After': retryAfterHeader } : {};
    const repeated =
      keyed && (status === '200' || status === '409') ? { 'Idempotency-Replayed': replayedHeader } : {};
    const rateLimit = admitted && (status === '200' || status === '429') ? rateLimitHeaders : {};
    const headers = { 'X-Request-Id': requestIdHeader, ...retryAfter, ...repeated, ...rateLimit };
    return { ...response, headers };
  });
  return { ...operation, responses: withHeaders };
}

/** @param app the whole application, all routes mounted */
export async function makeOpenApi(
  app: Hono<ApiEnv>,
  { version, publicUrl, policy }: Pick<ApiDeps, 'version' | 'publicUrl' | 'policy'>,
): Promise<OpenApiDocument> {
  const { webhooks, components } = describeWebhooks(policy);
  const generated = await generateSpecs(app, {
    defaultValidationErrorResponse: false,
    documentation: {
      info: {
        title: 'Waybill API',
        license: { name: 'MIT', identifier: 'MIT' },
        version: '2.1.0',
        description: [
          `Served by Waybill ${version}. E-shops register webhooks, and the service calls them when their orders, products, receivings, returns or stock change.`,
          conventions,
          authentication,
          versions,
          events,
          receiving(policy),
        ].join('\n\n'),
      },
      tags,
      servers: [{ url: publicUrl ?? '/' }],
      security: [{ apiKey: [], token: [] }],
    },
  });
  // A copy through JSON: from here on the document as clients read it, not the generator's types.
  const document: OpenApiDocument = JSON.parse(JSON.stringify(generated));
  const paths = mapValues(document.paths, (operations, path) =>
    mapValues(operations, (operation, method) => withExamples(method, path, complete(path, operation))),
  );
  return JSON.parse(
    JSON.stringify({
      ...document,
      paths,
      webhooks,
      components: {
        securitySchemes,
        schemas: {
          Envelope: envelopeSchema,
          Error: errorSchema,
          Pagination: describeSchema(Pagination, 'output').schema,
          ...components,
          ...document.components.schemas,
        },
      },
    }),
  );
}

/** `/openapi.json`: the document of an application, made at the first request, when all its routes are mounted. */
export function openApiRoutes(app: Hono<ApiEnv>, deps: Parameters<typeof makeOpenApi>[1]): void {
  // Serialized once: it is large, and anyone may request it.
  let bytes: Promise<Uint8Array<ArrayBuffer>> | undefined;
  app.get('/openapi.json', async (c) => {
    bytes ??= makeOpenApi(app, deps).then((document) => new TextEncoder().encode(JSON.stringify(document)));
    return c.body(await bytes, 200, { 'content-type': 'application/json' });
  });
}
