/** The side of a runner that works. */

/**
 * Works whenever the parent asks, one request at a time, and ends with it.
 * @param work does something so many times, and returns what it measured of each; empty where it measured nothing
 */
export function serve(work: (times: number) => Promise<readonly number[]>, stop: () => Promise<void>): void {
  process.on('message', (times: number) => {
    void work(times).then((measured) => process.send?.(measured));
  });
  process.on('disconnect', () => {
    void stop().finally(() => process.exit());
  });
  // Ctrl-C in a terminal reaches this process too; its parent ends it.
  process.on('SIGINT', () => {});
  process.send?.('ready');
}
