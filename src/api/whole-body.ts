/**
 * Bodies are received whole, within a limit, before anything else is done for their request.
 * @module
 */
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { badRequest, Problem } from '../domain/problem.ts';
import type { ApiEnv } from './deps.ts';

/**
 * Receives the body; `c.req.arrayBuffer()` and its like answer at once afterwards.
 * @param maxBytes a whole number of KiB
 * @throws Problem 413, or 400 when the client went away, which is not our failure
 */
export function wholeBody(maxBytes: number): MiddlewareHandler<ApiEnv> {
  const shown = maxBytes < 1024 * 1024 ? `${maxBytes / 1024} KiB` : `${maxBytes / 1024 / 1024} MiB`;
  const limited = bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      // The rest of it is not waited for.
      throw new Problem(413, `The body is larger than ${shown}.`, { connection: 'close' });
    },
  });
  return async (c, next) => {
    let bytes = 0;
    try {
      await limited(c, async () => {
        if (c.req.raw.body !== null) bytes = (await c.req.arrayBuffer()).byteLength;
      });
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw badRequest('The body was cut off before its end.');
    }
    c.var.allowance?.spend(bytes);
    await next();
  };
}
