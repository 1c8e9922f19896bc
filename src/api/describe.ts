/** The description of an operation in the OpenAPI document; `make-openapi.ts` adds the statuses that all share. */
import type { MiddlewareHandler } from 'hono';
import { describeRoute } from 'hono-openapi';
import type * as v from 'valibot';
import type { PayloadVersion } from '../domain/decimal.ts';
import { reasonPhrase } from './errors.ts';
import { describeSchema, refTo, resolved } from './json-schema.ts';

interface Operation {
  /** Its name, which generated clients use for the function that calls it: `createWebhook`. */
  readonly id: string;
  /** One line. */
  readonly summary: string;
  /** Rules beyond the schemas, in Markdown. */
  readonly description?: string;
  /** The schema of `data` in the envelope; of one item, for a list with `list: true`. */
  readonly data: v.GenericSchema;
  /** True for an array of `data` with `pagination` beside it; 'optional' if that is only there on request. */
  readonly list?: boolean | 'optional';
  /** Further members of the envelope, by name; optional ones may be missing. */
  readonly beside?: Readonly<Record<string, v.GenericSchema>>;
  /** Headers of the response on success, by name. */
  readonly headers?: Readonly<Record<string, v.GenericSchema>>;
  /** A sentence on success, such as "Order created."; also the example of `message`. */
  readonly message: string;
  /** Further statuses and when they are returned. 400, 401, 403, 413, 415, 500 and 503 are added automatically. */
  readonly errors?: Readonly<Partial<Record<400 | 401 | 403 | 404 | 409 | 411 | 429, string | undefined>>>;
  /** False for an operation without `authorization` (the login). */
  readonly token?: boolean;
}

/** An action on a record that has its own route. */
export interface Action extends Pick<Operation, 'summary' | 'message'> {
  /** The last part of its path. */
  readonly name: string;
  readonly description: string;
  /** When it is refused with 409. */
  readonly conflict?: string | undefined;
}

export const errorContent = {
  'application/json': { schema: refTo('Error') },
} as const;

/**
 * @param tag its group in the documentation
 * @example app.get('/orders', describeOperation('Orders', { id: 'listOrders', summary: 'List orders', data: Order,
 * list: true, message: 'Orders found.' }), …)
 */
export function describeOperation(tag: string, operation: Operation): MiddlewareHandler {
  const { schema, components } = describeSchema(operation.data, 'output');
  const list = operation.list ?? false;
  const paged = list === true ? ['pagination'] : [];
  const beside = Object.entries(operation.beside ?? {}).map(([name, each]) => ({
    name,
    isOptional: each.type === 'optional',
    ...describeSchema(each, 'output'),
  }));
  const required = beside.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
  const headers = Object.entries(operation.headers ?? {}).map(([name, each]) => {
    // A copy through JSON, as the JSON Schema types of hono-openapi and valibot differ, but only in name.
    const schema = JSON.parse(JSON.stringify(describeSchema(each, 'output').schema));
    return [name, { required: each.type !== 'optional', schema }] as const;
  });
  return describeRoute({
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    tags: [tag],
    ...(operation.token === false ? { security: [{ apiKey: [] }] } : {}),
    responses: {
      200: {
        description: operation.message,
        ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
        content: {
          'application/json': {
            schema: resolved({
              schema: {
                allOf: [
                  refTo('Envelope'),
                  {
                    type: 'object',
                    required: ['data', ...paged, ...required],
                    properties: {
                      data: list !== false ? { type: 'array', items: schema } : schema,
                      ...(list !== false ? { pagination: refTo('Pagination') } : {}),
                      ...Object.fromEntries(beside.map((each) => [each.name, each.schema])),
                    },
                  },
                ],
              },
              components: Object.assign({}, components, ...beside.map((each) => each.components)),
            }),
          },
        },
      },
      ...Object.fromEntries(
        Object.entries(operation.errors ?? {})
          .filter(([, when]) => when !== undefined)
          .map(([status, when]) => [
            status,
            { description: `${reasonPhrase(Number(status))}: ${when}`, content: errorContent },
          ]),
      ),
    },
  });
}

/** The id of an operation in one of both versions: `getOrder` and `getOrderV2`. */
export function inVersion(id: string, version: PayloadVersion): string {
  return version === 'v21' ? id : `${id}V2`;
}

/** A table of statuses as a Markdown list. */
export function transitionList(transitions: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(transitions)
    .map(([from, to]) => `- ${from} → ${to.length === 0 ? '(final)' : to.join(', ')}`)
    .join('\n');
}
