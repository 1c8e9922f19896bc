/** Values that no body may contain: what cannot be stored, inherited names, and nesting without end. */
import { expect, test } from 'vitest';
import { findInvalidText, isInherited } from '../../../src/domain/invalid-text.ts';

const unstorable = 'must not contain NUL or an unpaired surrogate';
const lists = (depth: number, inmost: unknown): unknown =>
  depth === 0 ? inmost : [lists(depth - 1, inmost)];

test.each<[string, unknown, string, string]>([
  ['a text with NUL', 'a\0b', '', unstorable],
  ['half a character', ['a', '\ud83d'], '1', unstorable],
  ['in an object in a list', { a: [{ b: 'x' }, { b: '\ude00', c: 1 }] }, 'a.1.b', unstorable],
  ['behind an object and a list', { a: { b: [1, {}] }, c: ['x', ['\0']] }, 'c.1.0', unstorable],
  ['in a name, which is not repeated', { a: [{ 'x\0': 1 }] }, 'a.0.(a field name)', unstorable],
  ['a name that every object has', { a: [{ constructor: 1 }] }, 'a.0.constructor', 'unknown field'],
  ['the name of the prototype', JSON.parse('{"__proto__": 1}'), '__proto__', 'unknown field'],
  ['33 levels of lists', lists(33, 1), '', 'must not be nested deeper than 32 levels'],
  ['33 levels, the last one an object', lists(32, {}), '', 'must not be nested deeper than 32 levels'],
])('%s is refused', (_, value, path, message) => {
  expect(findInvalidText(value)).toEqual({ path, message });
});

test.each([[null], [7], [true], [''], ['ž😀\n'], [{ a: [{ b: null }, [], {}], c: 'x' }], [lists(32, 'x')]])(
  '%j is accepted',
  (value) => {
    expect(findInvalidText(value)).toBeNull();
  },
);

test('names inherited by every object are recognized', () => {
  expect(['__proto__', 'constructor', 'toString', 'prototype'].map(isInherited)).toEqual(Array(4).fill(true));
  expect(['proto', 'name', ''].map(isInherited)).toEqual(Array(3).fill(false));
});
