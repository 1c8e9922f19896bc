/** Whether a write changes a record: one that changes nothing fires no event (docs/interface.md, C9). */
import { expect, test } from 'vitest';
import { unchanged } from '../../../src/domain/unchanged.ts';

const record = { a: 1, lines: [{ sku: 'A' }] };

test.each<[string, object, boolean]>([
  ['the same fields', { a: 1, lines: [{ sku: 'A' }] }, true],
  ['another value', { a: 2, lines: [{ sku: 'A' }] }, false],
  ['another value within', { a: 1, lines: [{ sku: 'B' }] }, false],
  ['another name', { b: 1, lines: [{ sku: 'A' }] }, false],
  ['a field more', { ...record, b: 1 }, false],
  ['a field less', { a: 1 }, false],
])('a record with %s', (_, after, same) => {
  expect(unchanged(record, after)).toBe(same);
});

test('values are compared as JSON', () => {
  expect(unchanged([{ a: null }], [{ a: null }])).toBe(true);
  expect(unchanged('1', 1)).toBe(false);
});
