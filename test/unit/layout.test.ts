/** Text chosen by e-shops is printed on operators' terminals. */
import { describe, expect, test } from 'vitest';
import { pairs, table } from '../../src/cli/layout.ts';
import { oneLine, withoutUnseen } from '../../src/domain/text.ts';

/** Clears the screen, sets the title, begins a new line, and reverses the direction of the text after it. */
const HOSTILE = '10001\u001b[2J\u001b]0;title\u0007\r\n20002  delivered\u009b31m\u202e';

test('a cell is one line without control characters', () => {
  for (const text of [oneLine(HOSTILE), pairs([['Event', HOSTILE]]), table([{ record: HOSTILE }])]) {
    expect(text).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e]/u);
  }
  expect(pairs([['Event', HOSTILE]]).split('\n')).toHaveLength(1);
  expect(table([{ record: HOSTILE }]).split('\n')).toHaveLength(2);
});

test('columns are aligned, and printable characters unchanged', () => {
  expect(table([{ id: 7, record: 'čepice 帽子' }])).toBe('id  record\n 7  čepice 帽子');
});

test('withoutUnseen() keeps lines and tabs, and replaces control characters as asked', () => {
  expect(withoutUnseen('a\tb\n\u202ec\u2069\u0085\u001b')).toBe('a\tb\n\ufffdc\ufffd\ufffd\ufffd');
  expect(withoutUnseen('שלום \u200f\u009b', () => '?')).toBe('שלום \u200f?');
});

describe('a table on a terminal of 60 columns', () => {
  const rows = [
    { id: '01a205b3', record: 'r'.repeat(30), tries: 1, error: 'HTTP 503 from shop.example' },
    { id: '01a205b4', record: '10002', tries: 21, error: '' },
  ];
  const lines = (cuttable: Readonly<Record<string, number>>) => table(rows, cuttable, 60).split('\n');

  test('cuts the least important columns first, and shows that', () => {
    expect(lines({ error: 8, record: 8 })).toEqual([
      `id        ${'record'.padEnd(30)}  tries  error`,
      `01a205b3  ${'r'.repeat(30)}      1  HTTP 503 f…`,
      `01a205b4  ${'10002'.padEnd(30)}     21`,
    ]);
    expect(lines({ error: 20, record: 8 })[1]).toBe(
      `01a205b3  ${'r'.repeat(20)}…      1  HTTP 503 from shop.…`,
    );
  });

  test('keeps the minimum of each column, and cuts no other', () => {
    expect(lines({ error: 20 })[1]).toBe(`01a205b3  ${'r'.repeat(30)}      1  HTTP 503 from shop.…`);
    expect(lines({})[1]).toContain('HTTP 503 from shop.example');
  });

  test('cuts nothing that fits', () => {
    expect(table(rows, { error: 8, record: 8 }, 75)).toBe(table(rows));
  });
});
