/** Keeps one line a minute per reason: a service that is unavailable is called again and again. */

const MINUTE_MS = 60_000;
/** The maximum number of reasons remembered. */
const MAX_REASONS = 200;

/**
 * @param now on a clock that does not jump, in milliseconds
 * @returns a function to call for each line: how many lines with the same reason were left out before it; null if it
 * is to be left out. Reasons that differ only in numbers are the same.
 */
export function onceAMinute(now = () => performance.now()): (reason: string) => number | null {
  const reports = new Map<string, { at: number; leftOut: number }>();
  return (reason) => {
    const key = reason.replace(/\d+/g, '#');
    const at = now();
    const before = reports.get(key);
    if (before !== undefined && at - before.at < MINUTE_MS) {
      before.leftOut += 1;
      return null;
    }
    if (reports.size >= MAX_REASONS) reports.clear();
    reports.set(key, { at, leftOut: 0 });
    return before?.leftOut ?? 0;
  };
}
