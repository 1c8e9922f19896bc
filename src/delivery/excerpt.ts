/** The beginning of a receiver's answer as text that can be stored and shown. */

/** How much of an answer is kept, in bytes. */
export const EXCERPT_BYTES = 1024;

/** Control characters but tabs and line breaks. */
const UNSAFE = /[^\P{Cc}\t\n\r]/gu;

/** Text without control characters but tabs and line breaks, which become U+FFFD. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, '\ufffd');
}

/**
 * The first 1,024 bytes as text; null when there are none. Invalid UTF-8 and control characters (NUL, which
 * Postgres refuses, and escapes, which terminals interpret) become U+FFFD; a character cut by the end is left out.
 */
export function safeExcerpt(bytes: Uint8Array): string | null {
  if (bytes.length === 0) return null;
  // Streaming: an unfinished character at the very end waits for more instead of becoming U+FFFD.
  const stream = bytes.length >= EXCERPT_BYTES;
  return safeText(new TextDecoder().decode(bytes.subarray(0, EXCERPT_BYTES), { stream }));
}
