/** Lines that may come by the thousand: a few are written per second, and the others are counted. */

/** Writes a line, or counts it. */
type BoundedLines = (write: () => void) => void;

const SECOND_MS = 1_000;

/** @param keptBack called at the end of a second with the number of lines left out */
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
