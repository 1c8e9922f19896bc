/** Lateness. Pure. */

/**
 * How late a step begins, in milliseconds; negative if it is early. The step was due at the latest of the times that
 * it had to wait for.
 * @param waitedFor null: nothing to wait for
 * @param at when the step begins, on the same clock as these times
 * @returns null if the step had nothing to wait for
 */
export function latenessMs(waitedFor: readonly (Date | null)[], at: Date): number | null {
  const times = waitedFor.flatMap((time) => (time === null ? [] : [time.getTime()]));
  return times.length === 0 ? null : at.getTime() - Math.max(...times);
}
