/** Statements shared by callers: calls that come together, or during a statement, share the next statement. */
import { isOfValues } from './sqlstate.ts';

/** A group that waited this long goes on a further connection. Less: smaller groups. More: a row lock stops all. */
const WAITS_MS = 50;
/** The most statements at once. Fewer: fewer row locks stop everybody. More: one kind takes the connections. */
const CONNECTIONS = 6;

/** Executes one statement for all items. @returns what it answers for each of them */
type Execute<Item, Result> = (items: readonly Item[]) => Promise<(item: Item) => Result>;

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Promise<Result>): void;
}

/**
 * @param most the most items of one statement
 * @param execute may be executed again for each item alone, if the server refuses the statement for all
 * @returns a function that answers for one item, and throws the error of its statement
 */
export function grouped<Item, Result>(
  most: number,
  execute: Execute<Item, Result>,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let underWay = 0;
  let timer: NodeJS.Timeout | undefined;

  async function executeFor(items: readonly Item[], item: Item, groupResult: ReturnType<typeof execute>) {
    try {
      return (await groupResult)(item);
    } catch (error) {
      // Another item may be the cause, so each is tried alone.
      if (items.length === 1 || !isOfValues(error)) throw error;
      return (await execute([item]))(item);
    }
  }

  async function send(): Promise<void> {
    const group = waiting.splice(0, most);
    if (waiting.length > 0) watch();
    const items = group.map(({ item }) => item);
    underWay += 1;
    const groupResult = execute(items);
    for (const { item, resolve } of group) resolve(executeFor(items, item, groupResult));
    // The callers of this group get its error.
    await groupResult.catch(() => {});
    underWay -= 1;
    if (waiting.length > 0) void send();
  }

  function watch(): void {
    if (timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      if (waiting.length === 0) return;
      if (underWay < CONNECTIONS) void send();
      watch();
    }, WAITS_MS);
  }

  return (item) =>
    new Promise((resolve) => {
      waiting.push({ item, resolve });
      if (underWay > 0) watch();
      else if (waiting.length === 1) setImmediate(() => void (waiting.length > 0 && send()));
    });
}

/** The same for a statement without an answer. */
export function groupedWrites<Item>(most: number, execute: (items: readonly Item[]) => Promise<void>) {
  return grouped<Item, void>(most, async (items) => {
    await execute(items);
    return () => {};
  });
}
