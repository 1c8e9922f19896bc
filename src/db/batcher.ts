/** Answers all callers of one tick of the event loop with one statement; a single caller waits for no others. */

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Promise<Result>): void;
}

/** @param maxItems the most items of one statement @param ask returns a promise for each item, in order */
export function createBatcher<Item, Result>(
  maxItems: number,
  ask: (items: readonly Item[]) => readonly Promise<Result>[],
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];

  function send(): void {
    const items = waiting;
    waiting = [];
    for (let at = 0; at < items.length; at += maxItems) {
      const batch = items.slice(at, at + maxItems);
      for (const [index, answer] of ask(batch.map(({ item }) => item)).entries())
        batch[index]?.resolve(answer);
    }
  }

  return (item) =>
    new Promise((resolve) => {
      if (waiting.length === 0) setImmediate(send);
      waiting.push({ item, resolve });
    });
}
