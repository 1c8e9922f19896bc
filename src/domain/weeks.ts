/** Weeks as ranges of UUIDv7 identifiers, which begin with their time. */

export const WEEK_MS = 7 * 24 * 3_600_000;
/** 1970-01-05 was a Monday. */
const FIRST_MONDAY_MS = 4 * 24 * 3_600_000;

/** The Monday, 00:00 UTC, at or before a time. */
export function weekOf(time: Date): Date {
  const weeks = Math.floor((time.getTime() - FIRST_MONDAY_MS) / WEEK_MS);
  return new Date(FIRST_MONDAY_MS + weeks * WEEK_MS);
}

/** @param from a Monday */
export function weeksBetween(from: Date, until: Date): Date[] {
  const weeks: Date[] = [];
  for (let at = from.getTime(); at < until.getTime(); at += WEEK_MS) weeks.push(new Date(at));
  return weeks;
}

/** A week as in the name of a table. @example weekName(new Date('2026-11-23')) // '20261123' */
export function weekName(week: Date): string {
  return week.toISOString().slice(0, 10).replaceAll('-', '');
}
