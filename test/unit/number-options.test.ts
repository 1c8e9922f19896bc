import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import { positiveInteger, positiveNumber, wholeNumber } from '../../bench/options.ts';

test.each([
  { option: positiveNumber, taken: { '0.5': 0.5, '16': 16 }, refused: ['0', '-1', '', 'many', 'Infinity'] },
  { option: positiveInteger, taken: { '1': 1, '100000': 100_000 }, refused: ['0', '2.5', '-1', '', 'many'] },
  { option: wholeNumber, taken: { '0': 0, '17': 17 }, refused: ['2.5', '-1', '', ' ', 'many'] },
])('$option.name takes what it says and refuses the rest', ({ option, taken, refused }) => {
  for (const [text, value] of Object.entries(taken)) expect(option(text)).toBe(value);
  for (const text of refused) expect(() => option(text), text).toThrow(InvalidArgumentError);
});
