/** The beginning of a response as text that can be stored and shown. */
import { withoutUnseen } from '../domain/text.ts';

/** How much of a response is kept, in bytes. */
export const EXCERPT_BYTES = 1024;

/** A decoder for the charset of a `content-type`; UTF-8 if it names none, or an unknown one. */
function decoderOf(contentType: string) {
  const label = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/**
 * The first 1,024 bytes as text; null if there are none. Bytes invalid in the charset and control characters (NUL,
 * which Postgres refuses, and escapes, which terminals interpret) become U+FFFD; one cut off at the end is left out.
 * @param contentType names the charset
 */
export function safeExcerpt(bytes: Uint8Array, contentType = ''): string | null {
  if (bytes.length === 0) return null;
  // Streaming: an unfinished character at the very end waits for more instead of becoming U+FFFD.
  const stream = bytes.length >= EXCERPT_BYTES;
  return withoutUnseen(decoderOf(contentType).decode(bytes.subarray(0, EXCERPT_BYTES), { stream }));
}
