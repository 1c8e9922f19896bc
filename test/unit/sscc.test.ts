import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSscc } from '../../src/domain/sscc.ts';

test.each(['106141411234567897', '340123450000000000', '376104250021234569'])('%s is an SSCC', (code) => {
  expect(isSscc(code)).toBe(true);
});

test.each([
  '',
  '106141411234567890',
  '10614141123456789',
  '1061414112345678970',
  '00106141411234567897',
  '10614141123456789a',
])('"%s" is not an SSCC', (code) => {
  expect(isSscc(code)).toBe(false);
});

test('exactly one check digit fits any 17 digits', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^\d{17}$/), (digits) => {
      const fitting = [...'0123456789'].filter((check) => isSscc(digits + check));
      expect(fitting).toHaveLength(1);
    }),
  );
});
