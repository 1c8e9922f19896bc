/** Words as they appear in messages, mails and the documentation. */
import { expect, test } from 'vitest';
import { orNotFound, recordNotFound } from '../../../src/domain/problem.ts';
import { anchor, article, capital, counted, oneLine, withoutUnseen } from '../../../src/domain/text.ts';
import { problemMessage } from '../../support/api/problem-message.ts';

test.each([
  ['order', 'Order', 'an order'],
  ['product', 'Product', 'a product'],
  ['receiving', 'Receiving', 'a receiving'],
  ['stock movement', 'Stock movement', 'a stock movement'],
])('%s begins a sentence as %s, and with an article is %s', (noun, first, one) => {
  expect([capital(noun), article(noun)]).toEqual([first, one]);
});

test.each([
  [0, '0 attempts'],
  [1, '1 attempt'],
  [2, '2 attempts'],
  [21, '21 attempts'],
])('%i attempts are written as %s', (count, text) => {
  expect(counted(count, 'attempt')).toBe(text);
});

test('a missing record is named with its identifier', () => {
  const thrown = (noun: string, id: string | number) =>
    problemMessage(() => {
      throw recordNotFound(noun, id);
    });
  expect(thrown('order', 'NOPE')).toBe('404 Order NOPE does not exist.');
  expect(thrown('stock movement', 7)).toBe('404 Stock movement 7 does not exist.');
});

test.each([
  ['a\r\n\tb', 'a b'],
  ['\u001b[31mred\u0000', ' [31mred '],
  ['left\u202eright\u2066 \u2028', 'left right   '],
  ['Žluťoučký kůň 😀', 'Žluťoučký kůň 😀'],
])('foreign text %j becomes one line: %j', (text, line) => {
  expect(oneLine(text)).toBe(line);
});

test('control characters become visible in text of several lines', () => {
  const text = 'a\tb\r\n\u001b[31m\u202eč';
  expect(withoutUnseen(text)).toBe('a\tb\r\n\ufffd[31m\ufffdč');
  expect(withoutUnseen(text, (character) => `<${character.charCodeAt(0)}>`)).toBe('a\tb\r\n<27>[31m<8238>č');
});

test.each([
  ['What is W13?', 'what-is-w13'],
  ['`Retry-After` & waits', 'retry-after-waits'],
  ['(Žluťoučký) kůň', 'žluťoučký-kůň'],
  ['…', ''],
])('the heading %j has the anchor %j', (heading, id) => {
  expect(anchor(heading)).toBe(id);
});

test('orNotFound() returns an existing record', () => {
  expect(orNotFound('order', 'A', 0)).toBe(0);
  expect(problemMessage(() => orNotFound('order', 'NOPE', null))).toBe('404 Order NOPE does not exist.');
});
