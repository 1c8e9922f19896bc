/**
 * Questions that come up in the same turn of the event loop, asked together: in a calm each is asked at once and alone,
 * in a rush many share what a statement costs.
 */

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Promise<Result>): void;
}

/**
 * Makes the function that asks one of them.
 * @param most of them at once
 * @param ask answers each with a promise of its own, in their order
 */
export function askTogether<Item, Result>(
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
