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
  return answer(
    c,
    JSON.stringify({
      statusCode: 200,
      message,
      data,
      ...(pagination === undefined ? {} : { pagination }),
    }),
  );
}

/**
 * The same for a list whose items are JSON already.
 * @param items the texts
 */
export function okList(
  c: Context<ApiEnv>,
  message: string,
  items: readonly string[],
  pagination: Pagination,
): Response {
  const [said, shown] = [message, pagination].map((value) => JSON.stringify(value));
  return answer(c, `{"statusCode":200,"message":${said},"data":[${items.join(',')}],"pagination":${shown}}`);
}

function answer(c: Context<ApiEnv>, text: string): Response {
  // Bytes, roughly: counting them exactly would take another pass over the text.
  c.var.allowance?.spend(text.length);
  return c.body(text, 200, { 'content-type': 'application/json' });
}
