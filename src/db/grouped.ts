/** Statements shared by callers: calls that come together, or during a statement, share the next statement. */
import { isOfValues } from './sqlstate.ts';

/** The most statements at once. Too low: fewer row locks stop everybody. Too high: one kind takes the connections. */
const CONNECTIONS = 6;

/** Executes one statement for all items. @returns what it answers for each of them */
type Execute<Item, Result> = (items: readonly Item[]) => Promise<(item: Item) => Result>;

interface Options<Item> {
  /**
   * A group that waited this long, in milliseconds, goes on a further connection; default 50. Too low: smaller
   * groups; with 0, a group waits only if the most statements are under way. Too high: a row lock stops all.
   */
  readonly waitsMs?: number;
  /** What an item counts towards the most of a statement; default 1. */
  sizeOf?(item: Item): number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Promise<Result>): void;
}

/**
 * @param most the most items of one statement, or their size
 * @param execute may be executed again for each item alone, if the server refuses the statement for all
 * @returns a function that answers for one item, and throws the error of its statement
 */
export function grouped<Item, Result>(
  most: number,
  execute: Execute<Item, Result>,
  { waitsMs = 50, sizeOf = () => 1 }: Options<Item> = {},
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  const atOnce = waitsMs === 0 ? CONNECTIONS : 1;
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

  /** One item at least. */
  function nextGroup() {
    let size = 0;
    const tooMany = waiting.findIndex(({ item }, index) => {
      size += sizeOf(item);
      return index > 0 && size > most;
    });
    return waiting.splice(0, tooMany === -1 ? waiting.length : tooMany);
  }

  async function send(): Promise<void> {
    const group = nextGroup();
    const items = group.map(({ item }) => item);
    underWay += 1;
    const groupResult = execute(items);
    for (const { item, resolve } of group) resolve(executeFor(items, item, groupResult));
    if (waiting.length > 0 && underWay < atOnce) void send();
    else if (waiting.length > 0) watch();
    // The callers of this group get its error.
    await groupResult.catch(() => {});
    underWay -= 1;
    if (waiting.length > 0) void send();
  }

  function watch(): void {
    if (timer !== undefined || waitsMs === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      if (waiting.length === 0) return;
      if (underWay < CONNECTIONS) void send();
      watch();
    }, waitsMs);
  }

  return (item) =>
    new Promise((resolve) => {
      waiting.push({ item, resolve });
      if (underWay >= atOnce) watch();
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
