/** Receives the whole body, up to a limit, before anything else is done for the request. */
import type { IncomingMessage } from 'node:http';
import type { MiddlewareHandler } from 'hono';
import { badRequest, Problem } from '../domain/problem.ts';
import type { ApiEnv } from './deps.ts';

/** This many chunks are harmless, however small. */
const FREE_PIECES = 64;
/** Beyond them, bytes per chunk on average: a chunk costs the same with one byte or thousands. */
const PIECE_BYTES = 64;

/** Sent with an error, so that the rest of the body is not awaited. */
const closing = { connection: 'close' };

/**
 * Refuses a body of unknown length unread: each chunk, perhaps of one byte, costs work.
 * @throws Problem 411
 */
export const needsLength: MiddlewareHandler<ApiEnv> = async (c, next) => {
  if (c.req.header('transfer-encoding') !== undefined)
    throw new Problem(411, 'The body must be sent with Content-Length, not chunked.', closing);
  await next();
};

function createPieces(maxBytes: number, tooLarge: () => Problem) {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  return {
    /** @throws Problem 413, or 400 for too many tiny chunks */
    add(piece: Uint8Array) {
      pieces.push(piece);
      bytes += piece.byteLength;
      if (bytes > maxBytes) throw tooLarge();
      if (pieces.length > FREE_PIECES + bytes / PIECE_BYTES)
        throw new Problem(400, 'The body is sent in too many tiny chunks; send larger ones.', closing);
    },
    whole: () => (pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)),
  };
}
type Pieces = ReturnType<typeof createPieces>;

/** From a caller within the process. @returns undefined if there is no body */
async function fromRequest(request: Request, pieces: Pieces): Promise<Uint8Array | undefined> {
  if (request.body === null) return undefined;
  pieces.add(new Uint8Array(await request.arrayBuffer()));
  return pieces.whole();
}

/**
 * From the HTTP server's own request: wrapping it in a web stream would cost as much as the rest of a small
 * request.
 * @returns undefined if there is no body
 * @throws Error if the client goes away, and the errors of `pieces`
 */
async function fromServer(incoming: IncomingMessage, pieces: Pieces): Promise<Uint8Array | undefined> {
  const { 'content-length': length, 'transfer-encoding': encoding } = incoming.headers;
  if ((length ?? '0') === '0' && encoding === undefined) return undefined;
  return await new Promise((resolve, reject) => {
    const end = () => {
      incoming.off('data', add).off('end', whole).off('error', reject).off('close', cutOff).pause();
    };
    const whole = () => {
      end();
      resolve(pieces.whole());
    };
    const cutOff = () => reject(new Error('The client has gone away.'));
    const add = (piece: Buffer) => {
      try {
        pieces.add(piece);
      } catch (error) {
        end();
        reject(error);
      }
    };
    incoming.on('data', add).once('end', whole).once('error', reject).once('close', cutOff);
    if (incoming.destroyed && !incoming.readableEnded) cutOff();
  });
}

/**
 * Receives the body, as `body`.
 * @param maxBytes a whole number of KiB
 * @throws Problem 413, or 400 for too many tiny chunks and if the client goes away, which is not our failure
 */
export function wholeBody(maxBytes: number): MiddlewareHandler<ApiEnv> {
  const shown = maxBytes < 1024 * 1024 ? `${maxBytes / 1024} KiB` : `${maxBytes / 1024 / 1024} MiB`;
  const tooLarge = () => new Problem(413, `The body is larger than ${shown}.`, closing);
  return async (c, next) => {
    const pieces = createPieces(maxBytes, tooLarge);
    const incoming = c.env?.incoming;
    if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw tooLarge();
    const receiving = incoming === undefined ? fromRequest(c.req.raw, pieces) : fromServer(incoming, pieces);
    const received = await receiving.catch((error: unknown) => {
      throw error instanceof Problem ? error : badRequest('The body was cut off before its end.');
    });
    if (received !== undefined) {
      c.set('body', received);
      c.get('allowance')?.spend(received.byteLength);
    }
    await next();
  };
}
