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

/** A record with another value for each name. */
export function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  make: (value: Value, name: string) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, make(value, name)]));
}

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
  id: ids.orders,
};

function withExample(path: string, status: string, response: Response): Response {
  const { content, description = '' } = response;
  if (content === undefined) return response;
  const code = Number(status);
  const failed = code === 400 ? INVALID : capital(description.replace(/^[^:]*: /, ''));
  const exampleOf = (schema: DocumentedSchema = {}, type: string) => {
    if (code >= 400) return errorBody(code, failed);
    return type === 'application/json' ? success(path, description, schema) : importResult;
  };
  const examples = mapValues(content, ({ schema }, type) => ({ schema, example: exampleOf(schema, type) }));
  return { ...response, content: examples };
}

export function withExamples(
  method: string,
  path: string,
  operation: DocumentedOperation,
): DocumentedOperation {
  const { requestBody, responses = {} } = operation;
  const example = exampleBody(`${method.toUpperCase()} ${path}`);
  const content = mapValues(requestBody?.content ?? {}, (media) => ({ ...media, example }));
  const parameters = operation.parameters?.map((parameter) => {
    const value = exampleParameter(method, path, parameter);
    return value === undefined ? parameter : { ...parameter, example: value };
  });
  return {
    ...operation,
    ...(parameters === undefined ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody: { ...requestBody, content } }),
    responses: mapValues(responses, (response, status) => withExample(path, status, response)),
  };
}
