import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  canonicalCount,
  canonicalMoney,
  compareDecimals,
  count,
  money,
  sumDecimals,
  writtenDecimal,
} from '../../src/domain/decimal.ts';
import { render } from '../../src/domain/render.ts';

const anyMoney = money('any');
const anyCount = count('any');

test.each<[number | string, string, string]>([
  [0, '0.00', '0'],
  [-0, '0.00', '0'],
  ['-0.00', '0.00', '0'],
  [1249.9, '1249.90', '1249.9'],
  ['1249.90', '1249.90', '1249.9'],
  ['007', '7.00', '7'],
  [2, '2.00', '2'],
  ['0.5000', '0.50', '0.5'],
  ['0.1234', '0.1234', '0.1234'],
  [1e3, '1000.00', '1000'],
  [999999999999999, '999999999999999.00', '999999999999999'],
  ['99999999999.9999', '99999999999.9999', '99999999999.9999'],
  ['-1.10', '-1.10', '-1.1'],
])('%s is %s as money and %s as a count', (value, asMoney, asCount) => {
  expect(v.parse(anyMoney, value)).toBe(asMoney);
  expect(v.parse(anyCount, value)).toBe(asCount);
});

test.each(['', ' 1', '1 ', '+1', '1.', '.5', '1e3', 'NaN', 'Infinity', '1,5', '0x10', '--1', '١', '1_000'])(
  'the text "%s" is not a decimal',
  (value) => {
    expect(v.is(anyMoney, value)).toBe(false);
    expect(v.is(anyCount, value)).toBe(false);
  },
);

test.each([Number.NaN, Number.POSITIVE_INFINITY, 1e21, 1e-7, 0.1 + 0.2, null, true, {}, []])(
  'the value %s is not a decimal',
  (value) => {
    expect(v.is(anyMoney, value)).toBe(false);
    expect(v.is(anyCount, value)).toBe(false);
  },
);

test('fifteen digits are accepted, sixteen are refused', () => {
  expect(v.is(anyCount, '123456789012345')).toBe(true);
  expect(v.is(anyCount, '1234567890123456')).toBe(false);
  expect(v.is(anyCount, '1234567890.123456')).toBe(false);
  expect(v.is(anyCount, '0.000001')).toBe(true);
  expect(v.is(anyCount, '0.0000001')).toBe(false);
});

const digits = 'has more than 15 digits: send a shorter value';
const fourDecimals = 'has more than 4 decimals: send a shorter value';
const sixDecimals = 'has more than 6 decimals: send a shorter value';
const noDecimal = 'must be a number or a decimal string such as "12.5"';

describe.each<[string, () => v.GenericSchema, [unknown, string | null][]]>([
  [
    'money',
    () => money(),
    [
      [0, null],
      ['0.0001', null],
      [-0.01, 'must be at least 0'],
      ['0.12345', fourDecimals],
      [1e-7, fourDecimals],
    ],
  ],
  [
    'a count',
    () => count(),
    [
      ['0', null],
      ['-1', 'must be at least 0'],
      ['0.1234567', sixDecimals],
      ['0.123456789012345', sixDecimals],
      ['0.1234567890123456', digits],
      [1e-7, sixDecimals],
      ['1234567890123456', digits],
      [1e21, digits],
      ['1e21', noDecimal],
      ['1e+21', noDecimal],
      ['1e-7', noDecimal],
      ['twelve', noDecimal],
      [null, noDecimal],
      [`${'0'.repeat(63)}1`, null],
      [`${'0'.repeat(64)}1`, digits],
      ['x'.repeat(65), digits],
    ],
  ],
  [
    'a count of something',
    () => count('positive'),
    [
      ['0.000001', null],
      [0, 'must be greater than 0'],
      ['-1', 'must be greater than 0'],
    ],
  ],
  [
    'a rate',
    () => count('percent'),
    [
      [100, null],
      ['100.000001', 'must be at most 100'],
      [-1, 'must be at least 0'],
    ],
  ],
])('%s', (_name, make, cases) => {
  test.each(cases)('%j: %s', (value, message) => {
    const { issues } = v.safeParse(make(), value);
    expect(issues?.map((issue) => issue.message).join('; ') ?? null).toBe(message);
  });
});

/** Decimal strings as requests may have them: digits, perhaps decimals, perhaps superfluous zeros on both sides. */
const decimalText = (decimals: number) =>
  fc
    .tuple(
      fc.boolean(),
      fc.bigInt({ min: 0n, max: 10n ** BigInt(15) - 1n }),
      fc.integer({ min: 0, max: decimals }),
      fc.nat(3),
      fc.nat(3),
    )
    .map(([negative, digits, scale, leading, trailing]) => {
      const text = digits.toString().padStart(scale + 1, '0');
      const whole = text.slice(0, text.length - scale);
      const fraction = text.slice(text.length - scale);
      const zeros = '0'.repeat(trailing);
      return `${negative ? '-' : ''}${'0'.repeat(leading)}${whole}${fraction + zeros === '' ? '' : `.${fraction}${zeros}`}`;
    });

describe('for arbitrary values', () => {
  test.each([
    ['money', 4, anyMoney],
    ['count', 6, anyCount],
  ] as const)('a %s survives a round trip through both versions', (kind, decimals, schema) => {
    fc.assert(
      fc.property(decimalText(decimals), (text) => {
        const canonical = v.parse(schema, text);
        expect(v.parse(schema, canonical)).toBe(canonical);
        expect(v.is(writtenDecimal(kind, 'v2'), canonical)).toBe(true);
        for (const field of ['unitPrice', 'quantity']) {
          const record = { [field]: canonical };
          const v2 = JSON.parse(render(record, { version: 'v2', withPackingLists: true }));
          const v21 = JSON.parse(render(JSON.stringify(record), { version: 'v21', withPackingLists: true }));
          expect(typeof v21[field]).toBe('number');
          expect(v.parse(schema, v2[field])).toBe(canonical);
          expect(v.parse(schema, v21[field])).toBe(canonical);
          expect(render(record, { version: 'v21', withPackingLists: true })).not.toMatch(/e[+-]/);
        }
      }),
    );
  });

  test('a number is accepted only if its text is exact', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) => {
        const result = v.safeParse(anyCount, value);
        if (result.success) expect(Number(result.output)).toBe(value === 0 ? 0 : value);
      }),
    );
  });

  test('comparison and sum agree with exact arithmetic', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer(), fc.nat(6)), { maxLength: 20 }), (pairs) => {
        const texts = pairs.map(([digits, scale]) => {
          const text = Math.abs(digits)
            .toString()
            .padStart(scale + 1, '0');
          const cut = text.length - scale;
          return `${digits < 0 ? '-' : ''}${text.slice(0, cut)}${scale > 0 ? `.${text.slice(cut)}` : ''}`;
        });
        const millionths = pairs.reduce(
          (sum, [digits, scale]) => sum + BigInt(digits) * 10n ** BigInt(6 - scale),
          0n,
        );
        const [whole, part] = [millionths / 1_000_000n, millionths % 1_000_000n];
        const sign = millionths < 0n ? '-' : '';
        const plain = (value: bigint) => (value < 0n ? -value : value).toString();
        expect(sumDecimals(texts)).toBe(
          canonicalCount(`${sign}${plain(whole)}.${plain(part).padStart(6, '0')}`),
        );
        expect(Math.sign(compareDecimals(sumDecimals(texts), '0'))).toBe(
          millionths > 0n ? 1 : millionths < 0n ? -1 : 0,
        );
      }),
    );
  });
});

test('a written money value has two to four decimals, a count no trailing zeros', () => {
  expect([v.parse(money(), '1.5'), v.parse(count(), '1.50')]).toEqual(['1.50', '1.5']);
  const written = (kind: 'money' | 'count', ...texts: string[]) =>
    texts.filter((text) => v.is(writtenDecimal(kind, 'v2'), text));
  expect(written('money', '1.50', '-1.2345', '1.5', '1.23456', '1', 'x1.50', '1.50x')).toEqual([
    '1.50',
    '-1.2345',
  ]);
  expect(written('count', '1', '-1.234567', '1.5', '1.50', '1.2345678', 'x1', '1x')).toEqual([
    '1',
    '-1.234567',
    '1.5',
  ]);
});

test('text that is not a decimal throws', () => {
  expect(() => canonicalMoney('a')).toThrow(new RangeError('"a" is not a decimal.'));
  expect(() => canonicalCount('1e3')).toThrow(RangeError);
});
