/** Statements that callers share. */
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { grouped } from '../../src/db/grouped.ts';

interface Statement {
  readonly items: readonly number[];
  /** Answers each of its items with its double. */
  answer(): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** The statements that were sent, in order. */
let sent: Statement[];
let call: (item: number) => Promise<number>;
/** The settled calls: answers and the messages of errors. */
let settled: Map<number, number | string>;
const MOST = 4;

/** Sends what `grouped` makes of the calls to {@link sent}. */
const send = (items: readonly number[]): Promise<(item: number) => number> =>
  new Promise((resolve, reject) => {
    const passed = () => vi.advanceTimersByTimeAsync(0);
    sent.push({
      items,
      async answer() {
        resolve((item) => 2 * item);
        await passed();
      },
      async fail(error) {
        reject(error);
        await passed();
      },
    });
  });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] });
  sent = [];
  settled = new Map();
  call = grouped(MOST, send);
});
afterEach(() => vi.useRealTimers());

/** Calls at the same moment. */
async function calls(...items: readonly number[]): Promise<void> {
  for (const item of items)
    call(item).then(
      (answer) => void settled.set(item, answer),
      (error: Error) => void settled.set(item, error.message),
    );
  await vi.advanceTimersByTimeAsync(0);
}
const items = () => sent.map((statement) => statement.items);

test('a call alone is sent at once', async () => {
  await calls(1);
  expect(items()).toEqual([[1]]);
  await sent[0]?.answer();
  await calls(2);
  expect(items()).toEqual([[1], [2]]);
  expect(settled).toEqual(new Map([[1, 2]]));
});

test('calls at the same moment share a statement, and each gets its own answer', async () => {
  await calls(1, 2, 3);
  expect(items()).toEqual([[1, 2, 3]]);
  await sent[0]?.answer();
  expect(settled).toEqual(
    new Map([
      [1, 2],
      [2, 4],
      [3, 6],
    ]),
  );
});

test('those that come while a statement is under way share the next one', async () => {
  await calls(1);
  await calls(2);
  await calls(3);
  expect(items()).toEqual([[1]]);
  await sent[0]?.answer();
  expect(items()).toEqual([[1], [2, 3]]);
  await sent[1]?.answer();
  expect(settled.size).toBe(3);
});

test('a statement has no more than the most; the others follow', async () => {
  await calls(1, 2, 3, 4, 5, 6);
  expect(items()).toEqual([[1, 2, 3, 4]]);
  await sent[0]?.answer();
  expect(items()).toEqual([
    [1, 2, 3, 4],
    [5, 6],
  ]);
});

describe('while a statement waits for a lock', () => {
  const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  test('a group that has waited 50 ms goes on a further connection', async () => {
    await calls(1);
    await calls(2, 3);
    await wait(49);
    expect(items()).toEqual([[1]]);
    await wait(1);
    expect(items()).toEqual([[1], [2, 3]]);
    await sent[1]?.answer();
    expect([...settled.keys()]).toEqual([2, 3]);
  });

  test('items for which the first group had no room go on a further connection', async () => {
    await calls(1, 2, 3, 4, 5);
    await wait(50);
    expect(items()).toEqual([[1, 2, 3, 4], [5]]);
  });

  test('at most six are under way; whichever ends first lets the next one go', async () => {
    for (let item = 1; item <= 9; item += 1) {
      await calls(item);
      await wait(50);
    }
    expect(items()).toEqual([[1], [2], [3], [4], [5], [6]]);
    await sent[3]?.answer();
    expect(items().slice(6)).toEqual([[7, 8, 9]]);
    await wait(1_000);
    expect(sent).toHaveLength(7);
  });

  test('nothing is sent if no item waits', async () => {
    await calls(1);
    await calls(2);
    await wait(1_000);
    expect(items()).toEqual([[1], [2]]);
  });
});

test('a statement has no more than the most by the size of its items, and one item at least', async () => {
  call = grouped(MOST, send, { sizeOf: (item) => item });
  await calls(1, 3, 1, 9, 2);
  for (const statement of [0, 1, 2]) await sent[statement]?.answer();
  expect(items()).toEqual([[1, 3], [1], [9], [2]]);
});

describe('where groups do not wait', () => {
  beforeEach(() => {
    call = grouped(MOST, send, { waitsMs: 0 });
  });

  test('those that come while a statement is under way, or find no room in it, are sent at once', async () => {
    await calls(1);
    await calls(2, 3, 4, 5, 6);
    expect(items()).toEqual([[1], [2, 3, 4, 5], [6]]);
  });

  test('at most six are under way, however long that lasts; whichever ends first lets the next one go', async () => {
    for (let item = 1; item <= 8; item += 1) await calls(item);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(items()).toHaveLength(6);
    await sent[2]?.answer();
    expect(items().slice(6)).toEqual([[7, 8]]);
  });
});

describe('a statement that fails', () => {
  const refused = (message: string, code = '22P02') =>
    Object.assign(new postgres.PostgresError(message), { message, code });

  test('because the server refused it is repeated for each item alone: a bad one fails for itself', async () => {
    await calls(1, 2, 3);
    await sent[0]?.fail(refused('a broken value'));
    expect(items().slice(1)).toEqual([[1], [2], [3]]);
    await sent[1]?.answer();
    await sent[2]?.fail(refused('the second one is broken'));
    await sent[3]?.answer();
    expect(settled).toEqual(
      new Map<number, number | string>([
        [1, 2],
        [2, 'the second one is broken'],
        [3, 6],
      ]),
    );
  });

  test('for one item alone is not repeated', async () => {
    await calls(1);
    await sent[0]?.fail(refused('a broken value'));
    expect(sent).toHaveLength(1);
    expect(settled).toEqual(new Map([[1, 'a broken value']]));
  });

  test('because it took too long fails for all: many more would only take longer', async () => {
    await calls(1, 2);
    await sent[0]?.fail(refused('canceled by the time limit', '57014'));
    expect(sent).toHaveLength(1);
    expect([...settled.values()]).toEqual(['canceled by the time limit', 'canceled by the time limit']);
  });

  test('because its connection was lost fails for all: it may have been executed', async () => {
    await calls(1, 2);
    await sent[0]?.fail(new Error('CONNECTION_CLOSED'));
    expect(sent).toHaveLength(1);
    expect([...settled.values()]).toEqual(['CONNECTION_CLOSED', 'CONNECTION_CLOSED']);
  });

  test('lets the next one go', async () => {
    await calls(1);
    await calls(2);
    await sent[0]?.fail(new Error('CONNECTION_CLOSED'));
    expect(items()).toEqual([[1], [2]]);
    await sent[1]?.answer();
    expect(settled.get(2)).toBe(4);
  });
});
