/** Schema and rules together, and the refusals of a request. */
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { list } from '../../../src/domain/list.ts';
import {
  badRequest,
  conflict,
  forbidden,
  invalid,
  MAX_PROBLEMS,
  notFound,
  Problem,
  tooManyRequests,
  unauthorized,
} from '../../../src/domain/problem.ts';
import {
  isObject,
  misplacedLists,
  omitFields,
  problemIf,
  rulesOf,
  validate,
} from '../../../src/domain/validation.ts';
import { problemMessage } from '../../support/api/problem-message.ts';

const schema = v.strictObject({
  from: v.number('must be a number'),
  to: v.number('must be a number'),
  note: v.optional(v.string('must be a string'), ''),
  more: v.optional(v.object({ deep: v.optional(v.array(v.object({ a: v.optional(v.number()) }))) })),
});
type Span = v.InferOutput<typeof schema>;
const asked: (object | null)[] = [];
const rule = rulesOf<Span, { readonly longest: number }>();
const rules = [
  rule(['from', 'to'], ({ from, to }, { longest }, before) => {
    asked.push(before);
    return [
      ...problemIf(to < from, 'to', 'must not be before from'),
      ...problemIf(to - from > longest, '', 'is too long'),
    ];
  }),
  rule(['note'], ({ note }) => problemIf(note === 'bad', 'note', 'must not be bad')),
];
const check = (body: unknown, before: object | null = null) =>
  validate(schema, body, { rules, before, context: { longest: 10 } });

describe('validation', () => {
  test('returns a valid body with its defaults', () => {
    expect(check({ from: 1, to: 2 })).toEqual({ from: 1, to: 2, note: '' });
  });

  test.each([
    [
      'every problem of both at once',
      { from: 3, to: 2, note: 7 },
      'note: must be a string; to: must not be before from',
    ],
    [
      'every problem of the rules',
      { from: 3, to: 2, note: 'bad' },
      'to: must not be before from; note: must not be bad',
    ],
    ['a problem of the whole', { from: 0, to: 11 }, 'is too long'],
    [
      'no rule over a field that the schema refused',
      { from: 'x', to: 2, note: 'bad' },
      'from: must be a number; note: must not be bad',
    ],
    ['a field that is missing', { from: 1, note: 'x' }, 'to: is required'],
    ['a field too many', { from: 1, to: 2, till: 3 }, 'till: unknown field'],
    ['text where an object belongs', { from: 1, to: 2, more: 'x' }, 'more: must be an object'],
    [
      'text where an object belongs, in a list',
      { from: 1, to: 2, more: { deep: ['x', {}] } },
      'more.deep.0: must be an object',
    ],
    ['a list where an object belongs', { from: 1, to: 2, more: [] }, 'more: must be an object, not a list'],
    [
      'a list where an object belongs, and what the rules say of the rest',
      { from: 3, to: 2, more: { deep: [{}, []] } },
      'more.deep.1: must be an object, not a list; to: must not be before from',
    ],
  ])('reports %s', (_what, body, message) => {
    expect(problemMessage(() => check(body))).toBe(`400 ${message}`);
  });

  test('checks a rule only if the schema accepts all of its fields', () => {
    expect(problemMessage(() => check({ from: '9', to: 2 }))).toBe('400 from: must be a number');
    expect(
      rules.flatMap((one) => one(null, { refused: new Set(), before: null, context: { longest: 1 } })),
    ).toEqual([]);
  });

  test('checks no rule if the body is not an object', () => {
    asked.length = 0;
    expect(problemMessage(() => check('text'))).toBe('400 must be an object');
    expect(problemMessage(() => check(null))).toBe('400 must be an object');
    const all = v.object({ note: v.optional(v.string(), 'bad') });
    expect(problemMessage(() => validate(all, [], { rules, before: null, context: { longest: 10 } }))).toBe(
      '400 must be an object, not a list',
    );
    expect(asked).toEqual([]);
  });

  test('checks a rule on an update only if one of its fields changed', () => {
    const before = { from: 5, to: 1, note: 'bad' };
    asked.length = 0;
    expect(problemMessage(() => check({ ...before }, before))).toBe('nothing');
    expect(asked).toEqual([]);
    expect(problemMessage(() => check({ ...before, to: 2 }, before))).toBe('400 to: must not be before from');
    expect(asked).toEqual([before]);
    expect(problemMessage(() => check({ from: 1, to: 2, note: 'bad' }, { from: 1, to: 2 }))).toBe(
      '400 note: must not be bad',
    );
  });
});

describe('unknown fields', () => {
  const inner = v.strictObject({ name: v.string() });
  const schema = v.pipe(
    v.strictObject({ own: v.nullish(inner, null), things: v.optional(list(inner, 5), []) }),
    v.check(() => true),
  );
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1]));

  test('are all reported, in objects at any depth', () => {
    expect(
      problemMessage(() =>
        validate(schema, {
          b: 1,
          own: { x: 1, name: 'a', y: 2 },
          a: 1,
          things: [{ name: 'a' }, { name: 'b', z: 1, constructed: 2 }],
        }),
      ),
    ).toBe(
      `400 ${['own.x', 'own.y', 'things.1.z', 'things.1.constructed', 'b', 'a']
        .map((path) => `${path}: unknown field`)
        .join('; ')}`,
    );
  });

  test('are told apart from missing fields and wrong types', () => {
    expect(problemMessage(() => validate(schema, { own: {} }))).toBe('400 own.name: is required');
    expect(problemMessage(() => validate(schema, { own: 7 }))).toBe('400 own: must be an object');
  });

  test('are reported, at least the first, where names are free', () => {
    const free = v.record(v.string(), inner);
    expect(problemMessage(() => validate(free, { a: { name: 'a', y: 1 } }))).toBe('400 a.y: unknown field');
    expect(
      problemMessage(() => validate(v.record(v.string(), free), { a: { b: { name: 'a', y: 1 } } })),
    ).toBe('400 a.b.y: unknown field');
  });

  test('are reported up to the limit of listed problems', () => {
    const problems = (count: number) => problemMessage(() => validate(schema, many(count))).split('; ');
    expect(problems(80)).toEqual([
      '400 f0: unknown field',
      ...Array.from({ length: MAX_PROBLEMS - 1 }, (_, index) => `f${index + 1}: unknown field`),
      'and 30 more',
    ]);
    expect(problems(10_000).at(-1)).toBe('and at least 50 more');
  });
});

test('a list in place of an object is reported, unless the schema transforms it', () => {
  expect(misplacedLists([], {})).toEqual([{ path: '', message: 'must be an object, not a list' }]);
  expect(misplacedLists([[]], [[]])).toEqual([]);
  expect(misplacedLists({ a: [1] }, { a: '1' })).toEqual([]);
  expect(misplacedLists({ a: [1] }, { a: null })).toEqual([]);
  expect(misplacedLists('text', {})).toEqual([]);
  expect(misplacedLists(null, {})).toEqual([]);
  expect(misplacedLists({ a: { b: [] } }, { a: { b: {} } })).toEqual([
    { path: 'a.b', message: 'must be an object, not a list' },
  ]);
});

test('a JSON object is neither a list nor null', () => {
  expect([{}, { a: 1 }].map(isObject)).toEqual([true, true]);
  expect([null, [], 'text', 7, true, undefined].map(isObject)).toEqual(Array(6).fill(false));
});

test('omitFields() removes fields of an object, and returns anything else unchanged', () => {
  expect(omitFields({ a: 1, b: 2, c: 3 }, ['a', 'c', 'd'])).toEqual({ b: 2 });
  expect(omitFields([1], ['0'])).toEqual([1]);
  expect(omitFields('text', [])).toBe('text');
});

describe('problems', () => {
  test.each([
    [badRequest('m'), 400, {}],
    [unauthorized('m'), 401, { 'www-authenticate': 'Bearer' }],
    [forbidden('m'), 403, {}],
    [notFound('m'), 404, {}],
    [conflict('m'), 409, {}],
    [tooManyRequests('m', 1), 429, { 'retry-after': '1' }],
    [tooManyRequests('m', 0), 429, { 'retry-after': '1' }],
    [tooManyRequests('m', 1001), 429, { 'retry-after': '2' }],
    [tooManyRequests('m', 60_000), 429, { 'retry-after': '60' }],
    [new Problem(503, 'm'), 503, {}],
  ])('%s is answered with %i and %j', (problem, status, headers) => {
    expect(problem).toBeInstanceOf(Problem);
    expect(problem).toMatchObject({ name: 'Problem', status, message: 'm' });
    expect(problem.headers).toEqual(headers);
  });

  test('each problem has the path of its field', () => {
    const problems = [
      { path: 'a.0', message: 'is bad' },
      { path: '', message: 'is worse' },
    ];
    expect(invalid(problems)).toMatchObject({ status: 400, message: 'a.0: is bad; is worse' });
  });
});
