/** Keeps a log readable while thousands of deliveries fail together. */

/** The maximum number of lines per second. Too low: some failing receivers are missed. Too high: a flooded log. */
const LINES_PER_SECOND = 20;
const SECOND_MS = 1_000;

/**
 * @param more called at the end of a second that had more, with the number left out
 * @returns a function to call for each line: whether it is one of the first of its second
 */
export function firstOfEachSecond(more: (count: number) => void): () => boolean {
  /** The number in this second. */
  let lines = 0;
  function endSecond(): void {
    if (lines > LINES_PER_SECOND) more(lines - LINES_PER_SECOND);
    lines = 0;
  }
  return () => {
    if (lines === 0) setTimeout(endSecond, SECOND_MS).unref();
    lines += 1;
    return lines <= LINES_PER_SECOND;
  };
}
