/**
 * Bodies are received whole, within a limit, before anything else is done for their request.
 * @module
 */
import type { MiddlewareHandler } from 'hono';
import { badRequest, Problem } from '../domain/problem.ts';
import type { ApiEnv } from './deps.ts';

/** This many chunks are harmless, however small. */
const FREE_PIECES = 64;
/** Beyond them, bytes per chunk on average: a chunk costs the same whether it has one byte or thousands. */
const PIECE_BYTES = 64;

/** The rest of a refused body is not waited for. */
const closing = { connection: 'close' };

/**
 * Refuses a body of unknown length unread: each of its chunks costs work, and a chunk may have one byte.
 * @throws Problem 411
 */
export const needsLength: MiddlewareHandler<ApiEnv> = async (c, next) => {
  if (c.req.header('transfer-encoding') !== undefined)
    throw new Problem(411, 'The body must be sent with Content-Length, not chunked.', closing);
  await next();
};

/**
 * @throws Problem 413, or 400 for too many tiny chunks
 * @throws Error when the client goes away
 */
async function receive(body: ReadableStream<Uint8Array>, maxBytes: number, tooLarge: () => Problem) {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  // Not cancelled when it is refused: that would close the connection before the response.
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(pieces);
    pieces.push(value);
    bytes += value.byteLength;
    if (bytes > maxBytes) throw tooLarge();
    if (pieces.length > FREE_PIECES + bytes / PIECE_BYTES)
      throw new Problem(400, 'The body is sent in too many tiny chunks; send larger ones.', closing);
  }
}

/**
 * Receives the body; `c.req.arrayBuffer()` and the like return at once afterwards.
 * @param maxBytes a whole number of KiB
 * @throws Problem 413, or 400 for too many tiny chunks and when the client went away, which is not our failure
 */
export function wholeBody(maxBytes: number): MiddlewareHandler<ApiEnv> {
  const shown = maxBytes < 1024 * 1024 ? `${maxBytes / 1024} KiB` : `${maxBytes / 1024 / 1024} MiB`;
  const tooLarge = () => new Problem(413, `The body is larger than ${shown}.`, closing);
  return async (c, next) => {
    const { body } = c.req.raw;
    if (body !== null) {
      if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw tooLarge();
      const received = await receive(body, maxBytes, tooLarge).catch((error: unknown) => {
        throw error instanceof Problem ? error : badRequest('The body was cut off before its end.');
      });
      c.req.raw = new Request(c.req.raw, { body: received });
      c.var.allowance?.spend(received.byteLength);
    }
    await next();
  };
}
