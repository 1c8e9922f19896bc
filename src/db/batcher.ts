/** Questions of the same tick of the event loop share a statement; one alone is asked at once. */

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Promise<Result>): void;
}

/**
 * @param most questions of one statement
 * @param ask answers each with a promise of its own, in their order
 */
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
