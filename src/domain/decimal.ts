/**
 * Exact decimals: strings here, `numeric` in Postgres, JSON numbers only at the edge of v21. At most 15 significant
 * digits, so that the JSON number is exact (docs/interface.md, C11 and C12).
 */
import * as v from 'valibot';

/** The forms of a payload: `v2` has decimal strings, `v21` JSON numbers. */
export const payloadVersions = ['v2', 'v21'] as const;
export type PayloadVersion = (typeof payloadVersions)[number];

/** The most digits of a decimal: up to here a JSON number is exact. */
const MAX_DIGITS = 15;
/** The most decimals of an amount of money. */
const MONEY_DECIMALS = 4;
/** The most decimals of a count; with more, a JSON number could fall into exponent notation. */
const COUNT_DECIMALS = 6;

const PLAIN = /^(-?)(\d+)(?:\.(\d+))?$/;

interface Parts {
  readonly sign: string;
  /** Without leading zeros, at least one digit. */
  readonly whole: string;
  /** Without trailing zeros, possibly empty. */
  readonly fraction: string;
}

/** Splits a plain decimal; null for anything else, exponents included. */
function parse(text: string): Parts | null {
  const match = PLAIN.exec(text);
  if (match === null) return null;
  const whole = (match[2] ?? '').replace(/^0+(?=\d)/, '');
  const fraction = (match[3] ?? '').replace(/0+$/, '');
  const zero = whole === '0' && fraction === '';
  return { sign: zero ? '' : (match[1] ?? ''), whole, fraction };
}

/** The problem of a value as a decimal of at most this many decimals, as a clause; null if none. */
function problemOf(value: number | string, decimals: number): string | null {
  if (typeof value === 'string' && value.length > 64)
    return `has more than ${MAX_DIGITS} digits: send a shorter value`;
  const text = String(value);
  // A number in exponent notation is either huge or tiny; a string in exponent notation is not a decimal string.
  if (typeof value === 'number' && /e-/.test(text))
    return `has more than ${decimals} decimals: send a shorter value`;
  if (typeof value === 'number' && /e\+/.test(text))
    return `has more than ${MAX_DIGITS} digits: send a shorter value`;
  const parts = parse(text);
  if (parts === null) return 'must be a number or a decimal string such as "12.5"';
  const digits = (parts.whole === '0' ? 0 : parts.whole.length) + parts.fraction.length;
  if (digits > MAX_DIGITS) return `has more than ${MAX_DIGITS} digits: send a shorter value`;
  if (parts.fraction.length > decimals) return `has more than ${decimals} decimals: send a shorter value`;
  return null;
}

/** @throws RangeError if the text is not a plain decimal; callers have checked it before. */
function partsOf(value: number | string): Parts {
  const parts = parse(String(value));
  if (parts === null) throw new RangeError(`"${value}" is not a decimal.`);
  return parts;
}

/**
 * The canonical text of an amount of money: two to four decimals ("1249.90", "0.1234").
 * @throws RangeError if the value is not a plain decimal
 */
export function canonicalMoney(value: number | string): string {
  const { sign, whole, fraction } = partsOf(value);
  return `${sign}${whole}.${fraction.padEnd(2, '0')}`;
}

/**
 * The canonical text of a count: no trailing zeros ("2", "0.5").
 * @throws RangeError if the value is not a plain decimal
 */
export function canonicalCount(value: number | string): string {
  const { sign, whole, fraction } = partsOf(value);
  return fraction === '' ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}

/**
 * Compares two decimals exactly.
 * @throws RangeError if one of them is not a plain decimal
 */
export function compareDecimals(a: string, b: string): number {
  const left = partsOf(a);
  const right = partsOf(b);
  const width = Math.max(left.fraction.length, right.fraction.length);
  const scaled = ({ sign, whole, fraction }: Parts) =>
    BigInt(`${sign}${whole}${fraction.padEnd(width, '0')}`);
  const difference = scaled(left) - scaled(right);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/**
 * The exact sum of decimals as a canonical count; "0" for none.
 * @throws RangeError if one of them is not a plain decimal
 */
export function sumDecimals(values: readonly string[]): string {
  const parts = values.map(partsOf);
  const width = Math.max(0, ...parts.map((part) => part.fraction.length));
  const total = parts.reduce(
    (sum, { sign, whole, fraction }) => sum + BigInt(`${sign}${whole}${fraction.padEnd(width, '0')}`),
    0n,
  );
  const digits = (total < 0n ? -total : total).toString().padStart(width + 1, '0');
  const cut = digits.length - width;
  return canonicalCount(
    `${total < 0n ? '-' : ''}${digits.slice(0, cut)}${width > 0 ? `.${digits.slice(cut)}` : ''}`,
  );
}

/** The values that a decimal field allows: `refused` returns the problem of a value, the rest documents the same. */
interface Range {
  readonly refused: (text: string) => string | null;
  readonly numbers: object;
  /** For decimal strings. */
  readonly pattern: string;
}

const negative = (text: string) => (text.startsWith('-') ? 'must be at least 0' : null);
const positive = { numbers: { exclusiveMinimum: 0 }, pattern: '^[\\d.]*[1-9]' };

const ranges = {
  any: { refused: () => null, numbers: {}, pattern: '^-?\\d' },
  notNegative: { refused: negative, numbers: { minimum: 0 }, pattern: '^\\d' },
  positive: {
    ...positive,
    refused: (text) => (compareDecimals(text, '0') > 0 ? null : 'must be greater than 0'),
  },
  /** Documented as positive; rules refuse zero, except in lines sent back as read. */
  announced: { ...positive, refused: negative },
  notZero: {
    refused: (text) => (compareDecimals(text, '0') === 0 ? 'must not be 0' : null),
    numbers: { not: { const: 0 } },
    pattern: '[1-9]',
  },
  percent: {
    refused: (text) => negative(text) ?? (compareDecimals(text, '100') > 0 ? 'must be at most 100' : null),
    numbers: { minimum: 0, maximum: 100 },
    pattern: '^(\\d{1,2}(\\.\\d+)?|100(\\.0+)?)$',
  },
} satisfies Readonly<Record<string, Range>>;

/** Marks decimal schemas, so that the record's forms and the documentation can be derived from the input schema. */
interface DecimalMetadata {
  readonly decimal: 'money' | 'count';
  /** The component of the documentation, and the limits of this field within it. */
  readonly ref: 'Decimal';
  readonly jsonSchema: object;
  readonly narrowed: object;
}

/** The pattern of plain decimals of at most so many decimals, and at most `MAX_DIGITS` digits in all. */
function digits(decimals: number): string {
  const wholes = Array.from({ length: decimals }, (_, less) => {
    const left = decimals - less;
    return `\\d{${less === 0 ? 1 : MAX_DIGITS - left},${MAX_DIGITS - left}}(\\.\\d{1,${left}})?`;
  });
  return [...wholes, `\\d{${MAX_DIGITS}}`].join('|');
}

const documented = {
  description: `A number or a decimal string; at most ${MAX_DIGITS} digits, and ${COUNT_DECIMALS} decimals unless the field allows fewer.`,
  anyOf: [
    { type: 'number', format: 'double', minimum: 1 - 10 ** MAX_DIGITS, maximum: 10 ** MAX_DIGITS - 1 },
    { type: 'string', pattern: `^-?(${digits(COUNT_DECIMALS)})$` },
  ],
};

function decimal(
  kind: DecimalMetadata['decimal'],
  { refused, numbers, pattern }: Range,
  narrowed: object = {},
) {
  const decimals = kind === 'money' ? MONEY_DECIMALS : COUNT_DECIMALS;
  const canonical = kind === 'money' ? canonicalMoney : canonicalCount;
  return v.pipe(
    v.union([v.number(), v.string()], 'must be a number or a decimal string such as "12.5"'),
    // Placed before the transformation: after it, a pipe describes the output instead of the request.
    v.metadata({
      decimal: kind,
      ref: 'Decimal',
      jsonSchema: documented,
      narrowed: { ...numbers, pattern, ...narrowed },
    } satisfies DecimalMetadata),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const problem = problemOf(dataset.value, decimals);
      if (problem !== null) {
        addIssue({ message: problem });
        return NEVER;
      }
      const text = canonical(dataset.value);
      const message = refused(text);
      if (message !== null) addIssue({ message });
      return text;
    }),
  );
}

/**
 * An amount of money in a request: a number or a decimal string, at most four decimals and 15 digits; becomes the
 * canonical string.
 */
export function money(range: 'any' | 'notNegative' = 'notNegative') {
  return decimal('money', ranges[range], {
    pattern: `${ranges[range].pattern}*(\\.\\d{1,${MONEY_DECIMALS}})?$`,
    description: `At most ${MONEY_DECIMALS} decimals.`,
  });
}

/**
 * A count (or a rate) in a request: a number or a decimal string, at most six decimals and 15 digits; becomes the
 * canonical string.
 */
export function count(range: keyof typeof ranges = 'notNegative') {
  return decimal('count', ranges[range]);
}

export function writtenDecimal(kind: DecimalMetadata['decimal'], version: PayloadVersion) {
  if (version === 'v21')
    return v.pipe(v.number(), v.metadata({ jsonSchema: { type: 'number', format: 'double' } }));
  return kind === 'money'
    ? v.pipe(
        v.string(),
        v.regex(/^-?\d+\.\d{2,4}$/),
        v.description('Decimal string, two to four decimals.'),
        v.metadata({ decimal: kind }),
      )
    : v.pipe(
        v.string(),
        v.regex(/^-?\d+(\.\d{0,5}[1-9])?$/),
        v.description('Decimal string, no trailing zeros.'),
        v.metadata({ decimal: kind }),
      );
}
