/** Decodes the beginning of a body that a receiver has compressed, although it was asked not to. */
import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

/** A body that was cut off is decoded as far as it goes. */
const CUT = { finishFlush: constants.Z_SYNC_FLUSH };

/** The zlib format has 8 in the lower half of its first byte; many servers send raw deflate data instead. */
const deflated = (bytes: Uint8Array) =>
  ((bytes[0] ?? 0) & 0x0f) === 8 ? createInflate(CUT) : createInflateRaw(CUT);
const gunzip = () => createGunzip(CUT);

const decoders = new Map<string, (bytes: Uint8Array) => Transform>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', deflated],
  ['br', () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })],
]);

/** Whether a body of this `content-encoding` can be decoded. */
export const isEncoded = (encoding: string) => decoders.has(encoding);

/**
 * Decodes the part of a body that is kept: at most one piece of 16 KiB, however large the whole body would become.
 * @param bytes the whole body or its beginning
 * @param most the most bytes of the result
 * @returns the bytes as they are if they cannot be decoded
 */
export async function decodedStart(bytes: Uint8Array, encoding: string, most: number): Promise<Uint8Array> {
  const decoder = decoders.get(encoding)?.(bytes);
  if (decoder === undefined) return bytes;
  const pieces: Uint8Array[] = [];
  let length = 0;
  await new Promise<void>((resolve) => {
    decoder.on('data', (piece: Uint8Array) => {
      pieces.push(piece);
      length += piece.length;
      if (length >= most) decoder.destroy();
    });
    // What was decoded before the error is kept; `close` follows.
    decoder.on('error', () => {});
    decoder.on('close', resolve);
    decoder.end(bytes);
  });
  return length === 0 ? bytes : Buffer.concat(pieces).subarray(0, most);
}
