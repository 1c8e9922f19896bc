/**
 * What a program of ours started, ended in the opposite order: at its end, after a failure, and on Ctrl-C.
 * @module
 */

/** Things to be stopped. */
export interface Stops {
  /** Stops this one before those that were added earlier. */
  push(stop: () => Promise<unknown>): void;
  /** Stops everything; any number of calls. */
  stop(): Promise<void>;
}

/** Makes the list. */
export function createStops(): Stops {
  const stops: (() => Promise<unknown>)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => {
      for (const each of stops.splice(0).reverse()) await each();
    })();
    return stopping;
  };
  return { push: (each) => stops.push(each), stop };
}

/** Makes the list; a SIGINT or SIGTERM stops everything and ends the process with 130. */
export function stopsOnSignal(): Stops {
  const stops = createStops();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stops.stop().finally(() => process.exit(130)));
  }
  return stops;
}
