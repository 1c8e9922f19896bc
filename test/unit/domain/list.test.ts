/** Lists with a maximum length, records with a maximum size, and a maximum number of reported problems. */
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { text } from '../../../src/domain/fields.ts';
import { itemsOf, lines, list, MAX_LINES } from '../../../src/domain/list.ts';
import { ENOUGH_PROBLEMS, invalid, MAX_PROBLEMS } from '../../../src/domain/problem.ts';
import { assertListSize, assertRecordSize, MAX_RECORD_BYTES } from '../../../src/domain/record-size.ts';
import { problemsOf } from '../../../src/domain/validation.ts';

const item = v.strictObject({ name: text(3) });
const problems = (schema: v.GenericSchema, value: unknown) =>
  problemsOf(v.safeParse(schema, value).issues ?? [], schema);

describe('a list', () => {
  test('reports one problem if it is too long, and checks no item', () => {
    let asked = 0;
    const counted = v.pipe(
      v.unknown(),
      v.check(() => {
        asked += 1;
        return false;
      }),
    );
    expect(problems(list(counted, 2, 'things'), [1, 2, 3])).toEqual([
      { path: '', message: 'must have at most 2 things' },
    ]);
    expect(asked).toBe(0);
    expect(problems(list(counted, 2, 'things'), [1, 2])).toHaveLength(2);
  });

  test('reports each problem with the index of its item, and returns valid ones', () => {
    const schema = v.strictObject({ things: list(item, 5) });
    expect(
      problems(schema, { things: [{ name: 'a' }, { name: 'long' }, {}, { name: 'b', more: 1 }] }),
    ).toEqual([
      { path: 'things.1.name', message: 'must have at most 3 characters' },
      { path: 'things.2.name', message: 'is required' },
      { path: 'things.3.more', message: 'unknown field' },
    ]);
    expect(v.parse(list(v.optional(text(3), 'x'), 5), [undefined, 'a'])).toEqual(['x', 'a']);
    expect(problems(v.strictObject({ things: list(list(item, 2), 2) }), { things: [[], [{}]] })).toEqual([
      { path: 'things.1.0.name', message: 'is required' },
    ]);
  });

  test('stops checking once there are enough problems', () => {
    expect(problems(list(item, 1000), Array(1000).fill({}))).toHaveLength(ENOUGH_PROBLEMS);
    const nested = Array(300).fill(Array(1000).fill({}));
    expect(problems(list(list(item, 1000), 1000), nested)).toHaveLength(ENOUGH_PROBLEMS);
  });

  test('is checked as a whole only if each item has its type', () => {
    const schema = v.pipe(
      list(item, 5),
      v.check(() => false, 'asked'),
    );
    const last = (value: unknown) => problems(schema, value).at(-1)?.message;
    expect(last([{ name: 'a' }])).toBe('asked');
    expect(last([{ name: 'long' }])).toBe('asked');
    expect(last([{ name: 'long' }, {}])).toBe('is required');
    expect(last([{}, { name: 'a' }])).toBe('is required');
  });

  test('has one to a thousand lines, and anything else has no items', () => {
    expect(problems(lines(item), [])).toEqual([{ path: '', message: 'must have at least one product' }]);
    expect(problems(lines(item), 'x')).toEqual([{ path: '', message: 'must be a list of products' }]);
    expect(problems(lines(item), Array(MAX_LINES + 1))).toEqual([
      { path: '', message: 'must have at most 1000 products' },
    ]);
    expect([itemsOf('x'), itemsOf([1, 2])]).toEqual([[], [1, 2]]);
    expect(itemsOf(Array(10 * MAX_LINES).fill(0))).toHaveLength(10_000);
    expect(itemsOf(Array(10 * MAX_LINES + 1).fill(0))).toEqual([]);
  });
});

describe('many problems', () => {
  const many = (count: number) =>
    invalid(Array.from({ length: count }, (_, index) => ({ path: `${index}`, message: 'no' }))).message.split(
      '; ',
    );
  test('are cut to the first fifty, with the number of the others', () => {
    expect(many(MAX_PROBLEMS)).toHaveLength(MAX_PROBLEMS);
    expect(many(MAX_PROBLEMS + 1).slice(49)).toEqual(['49: no', 'and 1 more']);
    expect(many(ENOUGH_PROBLEMS - 1).at(-1)).toBe('and 49 more');
    expect(many(ENOUGH_PROBLEMS).at(-1)).toBe('and at least 50 more');
  });

  test('shorten a long field name', () => {
    const named = (length: number) => invalid([{ path: 'x'.repeat(length), message: 'no' }]).message;
    expect(named(200)).toBe(`${'x'.repeat(200)}: no`);
    expect(named(201)).toBe(`${'x'.repeat(200)}…: no`);
  });
});

describe('the size limit', () => {
  /** A record whose JSON has this many bytes. */
  const sized = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) });
  const problemMessage = (bytes: number, onlyStatus: boolean) => {
    try {
      assertRecordSize('order', sized(bytes), onlyStatus);
      return null;
    } catch (error) {
      return String(error);
    }
  };
  const most = MAX_RECORD_BYTES - 8 * 1024;

  test('is 248 KiB for a record, and 256 KiB after a change of status', () => {
    expect(MAX_RECORD_BYTES).toBe(262_144);
    expect([problemMessage(most, false), problemMessage(MAX_RECORD_BYTES, true)]).toEqual([null, null]);
    expect(problemMessage(most + 1, false)).toBe(
      'Problem: The order would be 249 KiB as JSON, but may be at most 248 KiB: send shorter lists or texts.',
    );
    expect(problemMessage(MAX_RECORD_BYTES + 1, true)).toContain(
      '257 KiB as JSON, but may be at most 256 KiB',
    );
  });

  test('counts bytes', () => {
    const record = { text: 'ž'.repeat(most / 2) };
    expect(() => assertRecordSize('order', record, false)).toThrow('The order would be 249 KiB');
    const json = JSON.stringify(sized(most));
    expect(() => assertRecordSize('order', json, false)).not.toThrow();
    expect(() => assertRecordSize('order', `${json} `, false)).toThrow('The order would be 249 KiB');
  });

  test('is 8 MiB for all records of a page', () => {
    expect(() => assertListSize(8_388_608)).not.toThrow();
    expect(() => assertListSize(8_388_609)).toThrow(
      'items: the records of this page are more than 8 MiB as JSON: ask for fewer; 30 always fit.',
    );
  });
});
