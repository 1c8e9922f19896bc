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

test('a single call is sent at once', async () => {
  await calls(1);
  expect(items()).toEqual([[1]]);
  await sent[0]?.answer();
  await calls(2);
  expect(items()).toEqual([[1], [2]]);
  expect(settled).toEqual(new Map([[1, 2]]));
});

test('simultaneous calls share a statement, and each gets its own result', async () => {
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

test('calls that come during a statement share the next one', async () => {
  await calls(1);
  await calls(2);
  await calls(3);
  expect(items()).toEqual([[1]]);
  await sent[0]?.answer();
  expect(items()).toEqual([[1], [2, 3]]);
  await sent[1]?.answer();
  expect(settled.size).toBe(3);
});

test('a statement has at most the limit of items; the others follow', async () => {
  await calls(1, 2, 3, 4, 5, 6);
  expect(items()).toEqual([[1, 2, 3, 4]]);
  await sent[0]?.answer();
  expect(items()).toEqual([
    [1, 2, 3, 4],
    [5, 6],
  ]);
});

describe('during a slow statement', () => {
  const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  test('a group that has waited 50 ms uses another connection', async () => {
    await calls(1);
    await calls(2, 3);
    await wait(49);
    expect(items()).toEqual([[1]]);
    await wait(1);
    expect(items()).toEqual([[1], [2, 3]]);
    await sent[1]?.answer();
    expect([...settled.keys()]).toEqual([2, 3]);
  });

  test('items beyond the first group use another connection', async () => {
    await calls(1, 2, 3, 4, 5);
    await wait(50);
    expect(items()).toEqual([[1, 2, 3, 4], [5]]);
  });

  test('at most six statements are under way; the first to end releases the next', async () => {
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

test('the size of a statement is limited too, to one item at least', async () => {
  call = grouped(MOST, send, { sizeOf: (item) => item });
  await calls(1, 3, 1, 9, 2);
  for (const statement of [0, 1, 2]) await sent[statement]?.answer();
  expect(items()).toEqual([[1, 3], [1], [9], [2]]);
});

describe('without waiting', () => {
  beforeEach(() => {
    call = grouped(MOST, send, { waitsMs: 0 });
  });

  test('calls during a statement, or beyond its limit, are sent at once', async () => {
    await calls(1);
    await calls(2, 3, 4, 5, 6);
    expect(items()).toEqual([[1], [2, 3, 4, 5], [6]]);
  });

  test('at most six statements are under way, however long; the first to end releases the next', async () => {
    for (let item = 1; item <= 8; item += 1) await calls(item);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(items()).toHaveLength(6);
    await sent[2]?.answer();
    expect(items().slice(6)).toEqual([[7, 8]]);
  });
});

describe('a failed statement', () => {
  const refused = (message: string, code = '22P02') =>
    Object.assign(new postgres.PostgresError(message), { message, code });

  test('is repeated item by item if the server refused it, and only bad items fail', async () => {
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

  test('is not repeated for a single item', async () => {
    await calls(1);
    await sent[0]?.fail(refused('a broken value'));
    expect(sent).toHaveLength(1);
    expect(settled).toEqual(new Map([[1, 'a broken value']]));
  });

  test('fails all items after a time-out, since repeating them would take longer', async () => {
    await calls(1, 2);
    await sent[0]?.fail(refused('canceled by the time limit', '57014'));
    expect(sent).toHaveLength(1);
    expect([...settled.values()]).toEqual(['canceled by the time limit', 'canceled by the time limit']);
  });

  test('fails all items if its connection was lost, since it may have been executed', async () => {
    await calls(1, 2);
    await sent[0]?.fail(new Error('CONNECTION_CLOSED'));
    expect(sent).toHaveLength(1);
    expect([...settled.values()]).toEqual(['CONNECTION_CLOSED', 'CONNECTION_CLOSED']);
  });

  test('releases the next one', async () => {
    await calls(1);
    await calls(2);
    await sent[0]?.fail(new Error('CONNECTION_CLOSED'));
    expect(items()).toEqual([[1], [2]]);
    await sent[1]?.answer();
    expect(settled.get(2)).toBe(4);
  });
});
