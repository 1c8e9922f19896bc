/** Bytes → the lines of an NDJSON body. */

/** The longest line, in bytes: the same as the largest body of an ordinary request. */
const MAX_LINE_BYTES = 1024 * 1024;

export interface Line {
  /** From 1; empty lines are counted. */
  readonly number: number;
  /** Without its line end; null if longer than {@link MAX_LINE_BYTES}. */
  readonly bytes: Buffer | null;
}

const LF = 0x0a;
const isBlank = (bytes: Buffer) => bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);

/**
 * Splits at LF or CRLF and holds at most one line in memory.
 * @param breathe called before each line, may wait: a chunk may hold tens of thousands
 */
export function splitLines(breathe: () => Promise<void> | undefined): TransformStream<Uint8Array, Line> {
  let number = 0;
  let parts: Buffer[] = [];
  let length = 0;

  function add(part: Buffer): void {
    length += part.length;
    if (length <= MAX_LINE_BYTES) parts.push(part);
    else parts = [];
  }
  function end(controller: TransformStreamDefaultController<Line>): void {
    number += 1;
    const bytes = length > MAX_LINE_BYTES ? null : Buffer.concat(parts);
    parts = [];
    length = 0;
    if (bytes === null || !isBlank(bytes)) controller.enqueue({ number, bytes });
  }

  return new TransformStream({
    async transform(chunk, controller) {
      let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      for (let at = rest.indexOf(LF); at >= 0; at = rest.indexOf(LF)) {
        await breathe();
        add(rest.subarray(0, at));
        end(controller);
        rest = rest.subarray(at + 1);
      }
      if (rest.length > 0) add(rest);
    },
    flush(controller) {
      if (length > 0) end(controller);
    },
  });
}
