/**
 * The success envelope (docs/interface.md, C2): always status 200.
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
  const text = JSON.stringify({
    statusCode: 200,
    message,
    data,
    ...(pagination === undefined ? {} : { pagination }),
  });
  // Bytes, roughly: counting them exactly would take another pass over the text.
  c.var.allowance?.spend(text.length);
  return c.body(text, 200, { 'content-type': 'application/json' });
}
