/**
 * The success envelope (given.md, "Success envelope"): always status 200.
 * @module
 */
import type { Context } from 'hono';
import type { ApiEnv } from './deps.ts';
import type { Pagination } from './pagination.ts';

/**
 * Answers 200 with the envelope.
 * @param message a short sentence, such as "Webhook created."
 * @param data anything that JSON can say
 * @example return ok(c, 'Order created.', record);
 */
export function ok(c: Context<ApiEnv>, message: string, data: unknown, pagination?: Pagination): Response {
  return c.json({ statusCode: 200, message, data, ...(pagination === undefined ? {} : { pagination }) });
}

/**
 * The same for data that is JSON text already, so that its digits and the order of its keys stay as they are.
 * @param json the text of `data`; for a list, the text of the whole array
 * @example return okText(c, 'Order found.', render(snapshot, { version: 'v21', withPackingLists: false }));
 */
export function okText(c: Context<ApiEnv>, message: string, json: string, pagination?: Pagination): Response {
  const tail = pagination === undefined ? '' : `,"pagination":${JSON.stringify(pagination)}`;
  return c.body(`{"statusCode":200,"message":${JSON.stringify(message)},"data":${json}${tail}}`, 200, {
    'content-type': 'application/json',
  });
}
