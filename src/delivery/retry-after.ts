/** Reads the `Retry-After` header (RFC 9110, 10.2.3): seconds or an HTTP date. */

/** `Sun, 06 Nov 1994 08:49:37 GMT`; obsolete: `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`. */
const HTTP_DATE =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/** Ten years, longer than any window: larger numbers are cut to it, so that they cannot overflow later. */
const MAX_RETRY_AFTER_MS = 10 * 365 * 86_400_000;

/**
 * The wait that a receiver asks for, in milliseconds; 0 for a past time, null if the value is absent or neither
 * seconds nor an HTTP date.
 * @param now milliseconds since 1970
 */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS);
  if (!HTTP_DATE.test(text)) return null;
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(date) ? null : Math.min(Math.max(date - now, 0), MAX_RETRY_AFTER_MS);
}
