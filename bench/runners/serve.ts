/** The working side of a runner. */

/**
 * Works whenever the parent asks, one request at a time, and ends with the parent.
 * @param work does the work the given number of times; returns a measurement of each, or none
 */
export function serve(work: (times: number) => Promise<readonly number[]>, stop: () => Promise<void>): void {
  process.on('message', (times: number) => {
    void work(times).then((measured) => process.send?.(measured));
  });
  process.on('disconnect', () => {
    void stop().finally(() => process.exit());
  });
  // Ctrl-C in a terminal reaches this process too, but its parent ends it.
  process.on('SIGINT', () => {});
  process.send?.('ready');
}
