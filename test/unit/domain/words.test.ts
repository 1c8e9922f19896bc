/** Words as they appear in messages, mails and the documentation. */
import { expect, test } from 'vitest';
import { recordNotFound } from '../../../src/domain/problem.ts';
import { article, capital, counted } from '../../../src/domain/words.ts';
import { refusal } from '../../support/refusal.ts';

test.each([
  ['order', 'Order', 'an order'],
  ['product', 'Product', 'a product'],
  ['receiving', 'Receiving', 'a receiving'],
  ['stock movement', 'Stock movement', 'a stock movement'],
])('%s begins a sentence as %s, and one of them is %s', (noun, first, one) => {
  expect([capital(noun), article(noun)]).toEqual([first, one]);
});

test.each([
  [0, '0 attempts'],
  [1, '1 attempt'],
  [2, '2 attempts'],
  [21, '21 attempts'],
])('%i of them are %s', (count, text) => {
  expect(counted(count, 'attempt')).toBe(text);
});

test('a record that is not there is named with its identifier', () => {
  const thrown = (noun: string, id: string | number) =>
    refusal(() => {
      throw recordNotFound(noun, id);
    });
  expect(thrown('order', 'NOPE')).toBe('404 Order NOPE does not exist.');
  expect(thrown('stock movement', 7)).toBe('404 Stock movement 7 does not exist.');
});
