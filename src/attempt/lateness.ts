/** Lateness. Pure. */

/**
 * How late something is, in milliseconds; negative if it is early. It was due at the latest of the times that it
 * had to wait for.
 * @param waitedFor null: nothing to wait for
 * @param at on the same clock as all of them
 * @returns null if it had to wait for nothing
 */
export function latenessMs(waitedFor: readonly (Date | null)[], at: Date): number | null {
  const times = waitedFor.flatMap((time) => (time === null ? [] : [time.getTime()]));
  return times.length === 0 ? null : at.getTime() - Math.max(...times);
}
