/**
 * Exact decimals: strings here, `numeric` in Postgres, JSON numbers only at the edge of v21. At most 15 significant
 * digits, so that the JSON number is exact (docs/interface.md, C11 and C12).
 */
import * as v from 'valibot';

/** The forms of a payload: `v2` has decimal strings, `v21` JSON numbers. */
export const payloadVersions = ['v2', 'v21'] as const;
export type PayloadVersion = (typeof payloadVersions)[number];

/** The maximum number of digits of a decimal: up to here a JSON number is exact. */
const MAX_DIGITS = 15;
/** The maximum number of decimals of an amount of money. */
const MONEY_DECIMALS = 4;
/** The maximum number of decimals of a count; with more, a JSON number could need exponent notation. */
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
  const tooLong = `has more than ${MAX_DIGITS} digits: send a shorter value`;
  const tooFine = `has more than ${decimals} decimals: send a shorter value`;
  const text = String(value);
  // A number in exponent notation is either huge or tiny; a string in exponent notation is not a decimal string.
  if (typeof value === 'number' ? text.includes('e+') : text.length > 64) return tooLong;
  if (typeof value === 'number' && text.includes('e-')) return tooFine;
  const parts = parse(text);
  if (parts === null) return 'must be a number or a decimal string such as "12.5"';
  const digits = (parts.whole === '0' ? 0 : parts.whole.length) + parts.fraction.length;
  if (digits > MAX_DIGITS) return tooLong;
  return parts.fraction.length > decimals ? tooFine : null;
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
  const [left = 0n, right = 0n] = scaled([a, b]).integers;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Decimals without their point: as multiples of the same power of ten. @param values checked before */
function scaled(values: readonly string[]): { readonly width: number; readonly integers: readonly bigint[] } {
  const parts = values.map(partsOf);
  const width = Math.max(0, ...parts.map(({ fraction }) => fraction.length));
  const integers = parts.map(({ sign, whole, fraction }) =>
    BigInt(`${sign}${whole}${fraction.padEnd(width, '0')}`),
  );
  return { width, integers };
}

/**
 * The exact sum of decimals as a canonical count; "0" for none.
 * @throws RangeError if one of them is not a plain decimal
 */
export function sumDecimals(values: readonly string[]): string {
  const { width, integers } = scaled(values);
  const total = integers.reduce((sum, each) => sum + each, 0n);
  const digits = (total < 0n ? -total : total).toString().padStart(width + 1, '0');
  const cut = digits.length - width;
  return canonicalCount(
    `${total < 0n ? '-' : ''}${digits.slice(0, cut)}${width > 0 ? `.${digits.slice(cut)}` : ''}`,
  );
}

/** The values that a decimal field allows: `refused` returns the problem of a value; the rest documents them. */
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

type DecimalKind = 'money' | 'count';

/** The pattern of plain decimals with at most this many decimals, and at most `MAX_DIGITS` digits in all. */
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

function decimal(kind: DecimalKind, { refused, numbers, pattern }: Range, narrowed: object = {}) {
  const decimals = kind === 'money' ? MONEY_DECIMALS : COUNT_DECIMALS;
  const canonical = kind === 'money' ? canonicalMoney : canonicalCount;
  return v.pipe(
    v.union([v.number(), v.string()], 'must be a number or a decimal string such as "12.5"'),
    // Placed before the transformation: after it, a pipe describes the output instead of the request. `decimal`
    // serves to derive the record's forms; `narrowed` has the limits of this field within `Decimal`.
    v.metadata({
      decimal: kind,
      ref: 'Decimal',
      jsonSchema: documented,
      narrowed: { ...numbers, pattern, ...narrowed },
    }),
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

const writtenForms = {
  money: [/^-?\d+\.\d{2,4}$/, 'Decimal string, two to four decimals.'],
  count: [/^-?\d+(\.\d{0,5}[1-9])?$/, 'Decimal string, no trailing zeros.'],
} as const;

export function writtenDecimal(kind: DecimalKind, version: PayloadVersion) {
  if (version === 'v21')
    return v.pipe(v.number(), v.metadata({ jsonSchema: { type: 'number', format: 'double' } }));
  const [pattern, description] = writtenForms[kind];
  return v.pipe(v.string(), v.regex(pattern), v.description(description), v.metadata({ decimal: kind }));
}
