/** Answers all callers of one tick of the event loop with one statement; a single caller waits for no others. */

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Promise<Result>): void;
}

/** @param most the most items of one statement @param ask returns a promise for each item, in order */
export function createBatcher<Item, Result>(
  most: number,
  ask: (items: readonly Item[]) => readonly Promise<Result>[],
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];

  function send(): void {
    const all = waiting;
    waiting = [];
    for (let at = 0; at < all.length; at += most) {
      const asked = all.slice(at, at + most);
      for (const [index, answer] of ask(asked.map(({ item }) => item)).entries())
        asked[index]?.resolve(answer);
    }
  }

  return (item) =>
    new Promise((resolve) => {
      if (waiting.length === 0) setImmediate(send);
      waiting.push({ item, resolve });
    });
}
