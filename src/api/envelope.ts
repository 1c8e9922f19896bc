/** The success envelope (docs/interface.md, C2): always status 200. */
import type { Context } from 'hono';
import type { ApiEnv } from './deps.ts';

type Beside = Readonly<Partial<Record<'pagination' | 'cursor' | 'missing' | 'request', object | undefined>>>;

/**
 * Answers 200 with the envelope.
 * @param message a short sentence, such as "Webhook created."
 * @param beside members beside the data; undefined ones are left out
 */
export function ok(c: Context<ApiEnv>, message: string, data: unknown, beside: Beside = {}): Response {
  return answer(c, JSON.stringify({ statusCode: 200, message, data, ...beside }));
}

/** The same for data that is already JSON text: sent byte for byte. */
export function okText(c: Context<ApiEnv>, message: string, data: string, beside: Beside): Response {
  const members = Object.entries(beside).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`);
  return answer(
    c,
    `{"statusCode":200,"message":${JSON.stringify(message)},"data":${data}${members.join('')}}`,
  );
}

/** Answers with JSON text. */
export function answer(c: Context<ApiEnv>, text: string, status: 200 | 409 = 200): Response {
  // Bytes, roughly: an exact count would take another pass over the text.
  c.get('allowance')?.spend(text.length);
  return c.body(text, status, { 'content-type': 'application/json' });
}
