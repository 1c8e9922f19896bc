/** The beginning of a receiver's answer as text that can be stored and shown. */

/** How much of an answer is kept, in bytes. */
export const EXCERPT_BYTES = 1024;

/** Control characters but tabs and line breaks. */
const UNSAFE = /[^\P{Cc}\t\n\r]/gu;

/** Text without control characters but tabs and line breaks, which become U+FFFD. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, '\ufffd');
}

/** The charset that a `content-type` names, as Node.js knows it; UTF-8 where it names none, or an unknown one. */
function decoderOf(contentType: string) {
  const label = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/**
 * The first 1,024 bytes as text; null when there are none. What is invalid in its charset and control characters (NUL, which
 * Postgres refuses, and escapes, which terminals interpret) become U+FFFD; a character cut by the end is left out.
 * @param contentType names the charset
 */
export function safeExcerpt(bytes: Uint8Array, contentType = ''): string | null {
  if (bytes.length === 0) return null;
  // Streaming: an unfinished character at the very end waits for more instead of becoming U+FFFD.
  const stream = bytes.length >= EXCERPT_BYTES;
  return safeText(decoderOf(contentType).decode(bytes.subarray(0, EXCERPT_BYTES), { stream }));
}
