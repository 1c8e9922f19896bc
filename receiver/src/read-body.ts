/** Reads a body exactly as received. */
import { type Bytes, join } from './bytes.ts';
import { Refused } from './refused.ts';

/** The maximum, in bytes. No delivery needs that many: a record has at most 256 KiB as JSON. */
export const MAX_BODY_BYTES = 1_048_576;

/** @throws Refused if it was already read, is too large, or breaks off */
export async function readBody(request: Request): Promise<Bytes> {
  if (request.bodyUsed || request.body?.locked === true) {
    throw new Refused(
      'body',
      500,
      'The body was read before it got here (by a body parser such as express.json(), or by request.json()): a signature covers the bytes as they came. Pass on the request untouched.',
    );
  }
  const parts: Bytes[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  try {
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > MAX_BODY_BYTES) break;
      parts.push(value);
    }
  } catch {
    throw new Refused('body', 400, 'The body broke off before its end.');
  }
  if (size > MAX_BODY_BYTES) {
    await reader?.cancel();
    throw new Refused('body', 413, `The body has more than ${MAX_BODY_BYTES} bytes.`);
  }
  return join(...parts);
}
