/** Timestamps: in, any ISO 8601 date-time with an offset; out, UTC with milliseconds (`2026-11-20T19:33:00.000Z`). */
import * as v from 'valibot';

const ISO =
  /^(\d{4})-?(\d{2})-?(\d{2})T(\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?)?(?:Z|([+-])(\d{2})(?::?(\d{2}))?)$/i;

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/**
 * Reads an ISO 8601 date-time with an offset, extended or basic; digits past the millisecond are cut off, 24:00 is
 * the end of the day.
 * @returns null for anything else, and for a day or an hour that does not exist
 */
export function parseTimestamp(text: string): Date | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const number = (index: number) => Number(match[index] ?? 0);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = [1, 2, 3, 4, 5, 6].map(number);
  const milliseconds = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const endOfDay = hour === 24 && minute === 0 && second === 0 && milliseconds === 0;
  if (hour > (endOfDay ? 24 : 23) || minute > 59 || second > 59 || number(9) > 23 || number(10) > 59)
    return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const offset = (number(9) * HOUR_MS + number(10) * MINUTE_MS) * (match[8] === '-' ? -1 : 1);
  const local = date.getTime() + hour * HOUR_MS + minute * MINUTE_MS + second * 1000 + milliseconds;
  const result = new Date(local - offset);
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

export function isoTimestamp(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}

export function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
