/** Adds an example request and response to every operation. */
import { STATUS_CODES } from 'node:http';
import { errorBody } from '../errors.ts';
import type { DocumentedOperation, DocumentedSchema } from './document.ts';
import { exampleCarriers, examplePayload, exampleRecords, ids } from './example-records.ts';
import { exampleBody, exampleParameter } from './example-requests.ts';

type Responses = NonNullable<DocumentedOperation['responses']>;
type Response = Responses[string];

/** An example problem for each status. */
const errorMessages: Readonly<Record<number, string>> = {
  400: 'url: must be an absolute http: or https: URL.',
  401: 'The token is missing, invalid or has expired.',
  403: 'This operation requires the role warehouse.',
  404: 'There is no such record.',
  409: 'The state of the record does not allow this.',
  411: 'A login needs a Content-Length.',
  413: 'The body is larger than 1 MiB.',
  415: 'The body must be JSON, sent with "content-type: application/json".',
  422: 'This Idempotency-Key belongs to another request: use a new one.',
  429: 'Too many requests. Try again in 2 seconds.',
  500: 'An unexpected error occurred; it has been logged as request 019e9f34-8b1e-7c30.',
  503: 'The service cannot reach its database. Try again shortly (request 019e9f34-8b1e-7c30).',
};

function nameOf(schema: DocumentedSchema | undefined): string {
  return schema?.$ref?.split('/').at(-1) ?? '';
}

function dataOf(path: string, data: DocumentedSchema | undefined): unknown {
  if (data?.type === 'array') {
    return path.endsWith('/shipper-service-codes') ? exampleCarriers : [exampleRecords[nameOf(data.items)]];
  }
  if (path.endsWith('/payload')) return examplePayload;
  return exampleRecords[nameOf(data)] ?? data?.examples?.[0];
}

function success(path: string, message: string, { allOf = [] }: DocumentedSchema): unknown {
  const [, { properties = {}, required = [] } = {}] = allOf;
  const { data, pagination, ...beside } = properties;
  const others = Object.entries(beside).filter(([name]) => required.includes(name));
  return {
    statusCode: 200,
    message,
    data: dataOf(path, data),
    ...(pagination === undefined ? {} : { pagination: exampleRecords.Pagination }),
    ...Object.fromEntries(others.map(([name, schema]) => [name, exampleRecords[nameOf(schema)]])),
  };
}

const importResult = {
  line: 1,
  idempotencyKey: 'wms-1',
  statusCode: 200,
  message: 'Order status changed.',
  id: ids.order,
};

function withExample(path: string, status: string, response: Response): Response {
  const media = Object.entries(response.content ?? {}).map(([type, { schema }]) => {
    const code = Number(status);
    if (code >= 400) {
      const message = errorMessages[code] ?? STATUS_CODES[code] ?? '';
      return [type, { schema, example: errorBody(code, message) }] as const;
    }
    const example =
      type === 'application/json' ? success(path, response.description ?? '', schema ?? {}) : importResult;
    return [type, { schema, example }] as const;
  });
  return media.length === 0 ? response : { ...response, content: Object.fromEntries(media) };
}

export function withExamples(
  method: string,
  path: string,
  operation: DocumentedOperation,
): DocumentedOperation {
  const body = exampleBody(`${method.toUpperCase()} ${path}`);
  const content = Object.entries(operation.requestBody?.content ?? {}).map(
    ([type, media]) => [type, { ...media, example: body }] as const,
  );
  const parameters = operation.parameters?.map((parameter) => {
    const example = exampleParameter(method, path, parameter);
    return example === undefined ? parameter : { ...parameter, example };
  });
  const responses = Object.entries(operation.responses ?? {}).map(
    ([status, response]) => [status, withExample(path, status, response)] as const,
  );
  return {
    ...operation,
    ...(parameters === undefined ? {} : { parameters }),
    ...(operation.requestBody === undefined
      ? {}
      : { requestBody: { ...operation.requestBody, content: Object.fromEntries(content) } }),
    responses: Object.fromEntries(responses),
  };
}
