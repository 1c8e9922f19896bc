/** The fields that several entities share: accepted values, and the words of refusals. */
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { money, writtenDecimal } from '../../../src/domain/decimal.ts';
import {
  country,
  currency,
  described,
  email,
  flag,
  identifier,
  integer,
  integerOf,
  oneOf,
  optional,
  recordNumber,
  recordNumberText,
  text,
  uuid,
  webAddress,
} from '../../../src/domain/fields.ts';
import { list } from '../../../src/domain/list.ts';
import { extendMarketplaces, shippedMarketplaces } from '../../../src/domain/order/marketplaces.ts';
import { parseShipperCatalogue, shippedCatalogue } from '../../../src/domain/shipper-services.ts';
import { sscc } from '../../../src/domain/sscc.ts';
import { dateOf, timestamp } from '../../../src/domain/timestamp.ts';
import { problemMessage } from '../../support/api/problem-message.ts';

function problemOf(schema: v.GenericSchema, value: unknown): string | null {
  const result = v.safeParse(schema, value);
  return result.success ? null : result.issues.map(({ message }) => message).join('; ');
}

const ISO_COUNTRY = 'must be a country code of two capital letters (ISO 3166-1 alpha-2)';
const ISO_CURRENCY = 'must be a currency code of three capital letters (ISO 4217)';
const URL_MESSAGE = 'must be an absolute http or https URL';
const NO_PATH = 'must not be "." or "..", which cannot be used in a path';
const whole = 'must be a whole number from 2 to 4';
const moment = 'must be an ISO 8601 date-time with an offset';

// The schemas are made within the tests, so that the tests find defects in how they are made.
describe.each<[string, () => v.GenericSchema, [unknown, string | null][]]>([
  [
    'text',
    () => text(3),
    [
      ['', null],
      ['abc', null],
      ['abcd', 'must have at most 3 characters'],
      // An emoji is one character, as in JSON Schema, however many units it takes.
      ['😀😀😀', null],
      ['😀😀😀😀', 'must have at most 3 characters'],
      ['😀aaa', 'must have at most 3 characters'],
      ['aaaaaaa', 'must have at most 3 characters'],
      [7, 'must be a string'],
    ],
  ],
  [
    'text that must not be empty',
    () => text(3, 1),
    [
      ['', 'must not be empty'],
      ['a', null],
    ],
  ],
  [
    'text of a least length',
    () => text(3, 2),
    [
      ['a', 'must have at least 2 characters'],
      ['ab', null],
    ],
  ],
  [
    'an identifier',
    () => identifier(),
    [
      ['.', NO_PATH],
      ['..', NO_PATH],
      ['...', null],
      ['a/b', null],
      ['', 'must not be empty'],
      ['x'.repeat(64), null],
      ['x'.repeat(65), 'must have at most 64 characters'],
      ['😀'.repeat(64), null],
      ['😀'.repeat(65), 'must have at most 64 characters'],
    ],
  ],
  [
    'a flag',
    () => flag(),
    [
      [true, null],
      [false, null],
      ['true', 'must be true or false'],
    ],
  ],
  [
    'one of some',
    () => oneOf(['a', 'b']),
    [
      ['b', null],
      ['c', 'must be one of a, b'],
    ],
  ],
  [
    'a whole number',
    () => integer(2, 4),
    [
      [2, null],
      [4, null],
      [1, whole],
      [5, whole],
      [2.5, whole],
      ['2', whole],
    ],
  ],
  [
    'one of some whole numbers',
    () => integerOf([0, 2], 'must be 0 or 2'),
    [
      [2, null],
      [1, 'must be 0 or 2'],
      ['2', 'must be 0 or 2'],
    ],
  ],
  [
    'a country',
    () => country(),
    [
      ['CZ', null],
      ['cz', ISO_COUNTRY],
      ['XX', ISO_COUNTRY],
      [7, 'must be a country code of two letters (ISO 3166-1 alpha-2)'],
    ],
  ],
  [
    'a currency',
    () => currency(),
    [
      ['EUR', null],
      ['eur', ISO_CURRENCY],
      ['ABC', ISO_CURRENCY],
      [7, 'must be a currency code of three letters (ISO 4217)'],
    ],
  ],
  [
    'an e-mail address',
    () => email(),
    [
      ['zoe@shop.example', null],
      ["zoe.o'brien+returns@xn--80ak6aa92e.xn--p1ai", null],
      ['zoe@shop.example, eve@shop.example', 'must be an e-mail address'],
      ['zoe', 'must be an e-mail address'],
      [`${'x'.repeat(250)}@a.cz`, 'must have at most 254 characters'],
    ],
  ],
  [
    'a web address',
    () => webAddress(),
    [
      ['https://shop.example/x', null],
      ['HTTP://shop.example', null],
      ['ftp://shop.example', URL_MESSAGE],
      ['https://', URL_MESSAGE],
      ['javascript:https://shop.example', URL_MESSAGE],
      ['see https://shop.example', URL_MESSAGE],
      ['', `must not be empty; ${URL_MESSAGE}`],
      [`https://a.cz/${'x'.repeat(2035)}`, null],
      [`https://a.cz/${'x'.repeat(2036)}`, 'must have at most 2048 characters'],
    ],
  ],
  [
    'a list',
    () => list(text(1), 2),
    [
      [[], null],
      [['a', 'b'], null],
      [['a', 'b', 'c'], 'must have at most 2 items'],
      ['a', 'must be a list'],
    ],
  ],
  [
    'a UUID',
    () => uuid(),
    [
      ['01a204dd-8a46-7707-b199-6100010924c5', null],
      ['01a204dd', 'must be a UUID'],
    ],
  ],
  [
    'the number of a record in a path',
    () => recordNumberText(),
    [
      ['12', null],
      ['-12', null],
      ['9007199254740991', null],
      ['9007199254740992', 'is too large'],
      ['1.5', 'must be an integer'],
      ['x12', 'must be an integer'],
      ['12x', 'must be an integer'],
      ['', 'must be an integer'],
    ],
  ],
  [
    'an SSCC',
    () => sscc(),
    [
      ['185912345678901236', null],
      ['185912345678901237', 'must be 18 digits with a valid check digit'],
      [7, 'must be 18 digits'],
    ],
  ],
  [
    'a timestamp',
    () => timestamp(),
    [
      ['2026-11-20T19:33:00Z', null],
      ['2026-11-20', `${moment}, such as 2026-11-20T19:33:00Z`],
      [7, moment],
    ],
  ],
])('%s', (_name, make, cases) => {
  test.each(cases)('%j: %s', (value, problem) => {
    expect(problemOf(make(), value)).toBe(problem);
  });
});

test('an absent field is null or its default', () => {
  expect([undefined, null, 'a'].map((value) => v.parse(optional(text(1)), value))).toEqual([null, null, 'a']);
  expect([v.parse(flag(), undefined), v.parse(flag(true), undefined)]).toEqual([false, true]);
});

test('a description for the documentation is kept with its schema', () => {
  expect(v.getDescription(described(text(1), 'Why.'))).toBe('Why.');
});

// What generators of clients have to know (docs/interface.md, C20).
test.each<[string, () => v.GenericSchema, object]>([
  [
    'one of some whole numbers as an integer',
    () => integerOf([0, 2], 'no'),
    { jsonSchema: { type: 'integer', enum: [0, 2] } },
  ],
  [
    'the number of a record as int64',
    () => recordNumber(),
    { jsonSchema: { type: 'integer', format: 'int64' } },
  ],
  [
    'likewise as text, with what is added',
    () => recordNumberText({ minimum: 1 }),
    { jsonSchema: { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } },
  ],
  [
    'countries as a component',
    () => country(),
    {
      ref: 'Country',
      jsonSchema: {
        type: 'string',
        enum: expect.arrayContaining(['CZ', 'SK']),
        description: expect.stringContaining('ISO 3166-1 alpha-2'),
      },
    },
  ],
  [
    'currencies as a component',
    () => currency(),
    {
      ref: 'Currency',
      jsonSchema: {
        type: 'string',
        enum: expect.arrayContaining(['CZK', 'EUR']),
        description: expect.stringContaining('ISO 4217'),
      },
    },
  ],
  [
    'SSCCs by their digits',
    () => sscc(),
    {
      jsonSchema: {
        type: 'string',
        pattern: '^\\d{18}$',
        description: expect.stringContaining('check digit'),
      },
    },
  ],
  [
    'timestamps as date-times',
    () => timestamp(),
    { jsonSchema: { type: 'string', format: 'date-time', description: expect.stringContaining('ISO 8601') } },
  ],
  ['money as a decimal', () => money(), { ref: 'Decimal', narrowed: { description: 'At most 4 decimals.' } }],
  [
    'written money in v21 as a number',
    () => writtenDecimal('money', 'v21'),
    { jsonSchema: { type: 'number', format: 'double' } },
  ],
])('the documentation describes %s', (_, make, metadata) => {
  expect(v.getMetadata(make())).toMatchObject(metadata);
});

test('a record number is read from its text', () => {
  expect(v.parse(recordNumberText(), '-12')).toBe(-12);
});

test('a time is written in UTC with milliseconds', () => {
  expect(dateOf('1970-01-01T00:00:00.000Z')).toEqual(new Date(0));
  expect(dateOf(undefined)).toBeUndefined();
  expect(v.parse(timestamp(), '2026-11-20T19:33:00+01:00')).toBe('2026-11-20T18:33:00.000Z');
});

describe("the operator's files", () => {
  test('marketplaces are added to the shipped ones, each once', () => {
    expect(extendMarketplaces(['bazaar', 'allegro', 'bazaar'])).toEqual([...shippedMarketplaces, 'bazaar']);
    expect(problemMessage(() => extendMarketplaces('bazaar'))).toBe('400 must be a list of names');
    expect(problemMessage(() => extendMarketplaces(['', 'x'.repeat(65)]))).toBe(
      '400 0: must not be empty; 1: must have at most 64 characters',
    );
  });

  test('carriers replace the shipped ones', () => {
    const service = { value: 'A', name: 'a', countries: ['CZ'], pickupPoint: true, cashOnDelivery: false };
    const catalogue = [{ shipper: 'S', name: 's', services: [service] }];
    expect(parseShipperCatalogue(catalogue)).toEqual(catalogue);
    expect(shippedCatalogue.length).toBeGreaterThan(3);
    expect(problemMessage(() => parseShipperCatalogue([{ shipper: '', name: 's', services: [] }]))).toMatch(
      /^400 0\.shipper: must not be empty; 0\.services: /,
    );
    for (const part of [{ value: '' }, { name: '' }, { countries: ['XX'] }, { countries: 'CZ' }]) {
      const services = [{ ...service, ...part }];
      expect(problemMessage(() => parseShipperCatalogue([{ shipper: 'S', name: 's', services }]))).toMatch(
        /^400 /,
      );
    }
    const lengths = [
      {
        shipper: 'x'.repeat(65),
        name: 'y'.repeat(256),
        services: [{ ...service, value: 'x'.repeat(65), name: 'y'.repeat(256) }],
      },
    ];
    expect(problemMessage(() => parseShipperCatalogue(lengths))).toBe(
      '400 0.shipper: must have at most 64 characters; 0.name: must have at most 255 characters; 0.services.0.value: must have at most 64 characters; 0.services.0.name: must have at most 255 characters',
    );
    expect(
      problemMessage(() => parseShipperCatalogue([{ shipper: 'S', name: '', services: [service] }])),
    ).toBe('400 0.name: must not be empty');
  });
});
