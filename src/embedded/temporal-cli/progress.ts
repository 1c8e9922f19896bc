/** Reports now and then how far a long task has got. */

/** Between two lines, in milliseconds. */
const INTERVAL_MS = 5_000;

/**
 * Runs `work`, reporting every few seconds how long it has been going and what `state` says, and at the end how
 * long it took.
 * @param done the last line's verb: "built"
 */
export async function withProgress<T>(
  report: (text: string) => void,
  done: string,
  state: () => string,
  work: () => Promise<T>,
): Promise<T> {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1_000);
  const timer = setInterval(
    () => report(`  … ${[`${seconds()} s`, state()].filter(Boolean).join(': ')}`),
    INTERVAL_MS,
  );
  try {
    const result = await work();
    report(`  ${done} in ${seconds()} s`);
    return result;
  } finally {
    clearInterval(timer);
  }
}
