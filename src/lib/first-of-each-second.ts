/** Keeps a log readable while thousands of deliveries fail together. */

const SECOND_MS = 1_000;

/**
 * @param most how many lines a second has
 * @param more called at the end of a second that had more: how many were left out
 * @returns a function called for each line: whether it is one of the first of its second
 */
export function firstOfEachSecond(most: number, more: (count: number) => void): () => boolean {
  /** In this second. */
  let lines = 0;
  function endSecond(): void {
    if (lines > most) more(lines - most);
    lines = 0;
  }
  return () => {
    if (lines === 0) setTimeout(endSecond, SECOND_MS).unref();
    lines += 1;
    return lines <= most;
  };
}
