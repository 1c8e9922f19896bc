/** How late something is. Pure. */

/**
 * How long past its time something is, in milliseconds; negative before it. Its time is the latest of those that it
 * had to wait for.
 * @param waitedFor null: nothing to wait for
 * @param at by the clock that all of them were read by
 * @returns null where it had to wait for nothing
 */
export function latenessMs(waitedFor: readonly (Date | null)[], at: Date): number | null {
  const times = waitedFor.flatMap((time) => (time === null ? [] : [time.getTime()]));
  return times.length === 0 ? null : at.getTime() - Math.max(...times);
}
