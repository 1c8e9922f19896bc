import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { time } from '../../src/cli/options.ts';
import { parseTimestamp } from '../../src/domain/timestamp.ts';

test.each([
  ['2026-11-20T19:33:00Z', '2026-11-20T19:33:00.000Z'],
  ['2026-11-20t19:33:00z', '2026-11-20T19:33:00.000Z'],
  ['2026-11-20T19:33Z', '2026-11-20T19:33:00.000Z'],
  ['2026-11-20T19Z', '2026-11-20T19:00:00.000Z'],
  ['2026-11-20T19:33:00.1+02:00', '2026-11-20T17:33:00.100Z'],
  ['2026-11-20T19:33:00,123456789-0530', '2026-11-21T01:03:00.123Z'],
  ['20261120T193300Z', '2026-11-20T19:33:00.000Z'],
  ['2026-11-20T19:33:00+01', '2026-11-20T18:33:00.000Z'],
  ['2026-11-20T24:00:00Z', '2026-11-21T00:00:00.000Z'],
  ['2026-11-20T19:33:00+23:00', '2026-11-19T20:33:00.000Z'],
  ['2026-11-20T19:33:00-00:59', '2026-11-20T20:32:00.000Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['0099-01-01T00:00:00Z', '0099-01-01T00:00:00.000Z'],
])('%s is read as %s', (text, expected) => {
  expect(parseTimestamp(text)?.toISOString()).toBe(expected);
});

test.each([
  '',
  'now',
  '2026-11-20',
  '2026-11-20T19:33:00',
  '2026-11-20 19:33:00Z',
  '2026-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-11-20T25:00:00Z',
  '2026-11-20T24:00:01Z',
  '2026-11-20T24:01:00Z',
  '2026-11-20T24:00:00.001Z',
  '2026-11-20T19:60:00Z',
  '2026-11-20T19:33:60Z',
  '2026-11-20T19:33:00+24:00',
  '2026-11-20T19:33:00+22:60',
  '0000-12-31T00:00:00Z',
  '9999-12-31T23:59:59-01:00',
  '+012026-11-20T19:33:00Z',
  '1763667180',
])('"%s" is not a timestamp', (text) => {
  expect(parseTimestamp(text)).toBeNull();
});

test('a written timestamp is read again', () => {
  fc.assert(
    fc.property(
      fc.date({
        min: new Date('0001-01-01T00:00:00Z'),
        max: new Date('9999-12-31T23:59:59.999Z'),
        noInvalidDate: true,
      }),
      (date) => {
        expect(parseTimestamp(date.toISOString())?.getTime()).toBe(date.getTime());
      },
    ),
  );
});

test.each([
  ['2026-11-20', '2026-11-20T00:00:00.000Z'],
  ['2026-11-20T19:33', '2026-11-20T19:33:00.000Z'],
  ['2026-11-20T19:33:07+02:00', '2026-11-20T17:33:07.000Z'],
  // As lists print it.
  ['2026-11-20 19:33Z', '2026-11-20T19:33:00.000Z'],
])('the option %s of a command is %s, whatever the time zone', (text, expected) => {
  expect(v.parse(time('--since'), text).toISOString()).toBe(expected);
});

test.each(['11-20 19:33Z', '11/20', '7', '11/20/2026', '2026-02-29', 'Nov 20 2026', ''])(
  'the option %j is refused, since a guessed year would select everything',
  (text) => {
    expect(() => v.parse(time('--since'), text)).toThrow('--since must be a time such as 2026-11-20 or');
  },
);
