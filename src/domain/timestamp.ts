/** Timestamps: in, any ISO 8601 date-time with an offset; out, UTC with milliseconds (`2026-11-20T19:33:00.000Z`). */
import * as v from 'valibot';

const ISO =
  /^(\d{4})-?(\d{2})-?(\d{2})T(\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?)?(?:Z|([+-])(\d{2})(?::?(\d{2}))?)$/i;

/**
 * Reads an ISO 8601 date-time with an offset, extended or basic; digits past the millisecond are cut off, 24:00 is
 * the end of the day.
 * @returns null for anything else, and for a day or an hour that does not exist
 */
export function parseTimestamp(text: string): Date | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute = '00', second = '00', fraction = ''] = match;
  const [sign = '+', offsetHours = '00', offsetMinutes = '00'] = match.slice(8);
  const date = `${year}-${month}-${day}`;
  // `Date` takes February 30 for March 2.
  if (new Date(date).getUTCDate() !== Number(day)) return null;
  const time = `${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}`;
  const result = new Date(`${date}T${time}${sign}${offsetHours}:${offsetMinutes}`);
  // Outside these years the written form would not have four digits.
  return result.getUTCFullYear() >= 1 && result.getUTCFullYear() <= 9999 ? result : null;
}

/** A timestamp in a request; becomes the text used in records. */
export function timestamp(description = 'Any ISO 8601 date-time with an offset.') {
  return v.pipe(
    v.string('must be an ISO 8601 date-time with an offset'),
    // Placed before the transformation: after it, a pipe describes the output instead of the request.
    v.metadata({
      timestamp: true,
      jsonSchema: {
        type: 'string',
        format: 'date-time',
        description,
      },
    }),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const date = parseTimestamp(dataset.value);
      if (date !== null) return date.toISOString();
      addIssue({ message: 'must be an ISO 8601 date-time with an offset, such as 2026-11-20T19:33:00Z' });
      return NEVER;
    }),
  );
}

export function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
