/** Adds an example request and response to every operation. */
import { capital } from '../../domain/text.ts';
import { errorBody } from '../errors.ts';
import type { DocumentedOperation, DocumentedSchema } from './document.ts';
import { exampleCarriers, examplePayload, exampleRecords, ids } from './example-records.ts';
import { exampleBody, exampleParameter } from './example-requests.ts';

type Responses = NonNullable<DocumentedOperation['responses']>;
type Response = Responses[string];

/** The example of a failed validation; of another error it is its description, as a sentence. */
const INVALID = 'url: must be an absolute http: or https: URL.';

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
      const when = response.description?.replace(/^[^:]*: /, '') ?? '';
      return [type, { schema, example: errorBody(code, code === 400 ? INVALID : capital(when)) }] as const;
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
