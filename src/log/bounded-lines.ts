/** Lines that may come by the thousand: so many are written per second, and the others are counted. */

/** Writes a line, or counts it. */
type BoundedLines = (write: () => void) => void;

const SECOND_MS = 1_000;

/** @param keptBack told at the end of a second how many more there were */
export function boundLines(perSecond: number, keptBack: (count: number) => void): BoundedLines {
  let lines = 0;
  function endSecond(): void {
    if (lines > perSecond) keptBack(lines - perSecond);
    lines = 0;
  }
  return (write) => {
    if (lines === 0) setTimeout(endSecond, SECOND_MS).unref();
    lines += 1;
    if (lines <= perSecond) write();
  };
}
