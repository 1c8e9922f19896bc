/** Static headers: the valid ones, and the effect of a PUT on the stored ones. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { describeSchema } from '../../../src/api/json-schema.ts';
import { Problem } from '../../../src/domain/problem.ts';
import {
  headersOrNull,
  MASK,
  masked,
  replacedHeaders,
  type StaticHeaders,
  staticHeaders,
} from '../../../src/domain/static-headers.ts';

const newHeadersField = v.nullish(staticHeaders(false));
const replacedHeadersField = v.nullish(staticHeaders(true));

function problemsOf(headers: unknown, field = newHeadersField): (string | null)[][] {
  const result = v.safeParse(v.strictObject({ headers: field }), { headers });
  return result.success ? [] : result.issues.map((issue) => [v.getDotPath(issue), issue.message]);
}

const OURS = 'is set by the service';
const CONNECTION = 'belongs to the connection and cannot be set';
const NAME = 'is not the name of a header';
const VALUE = 'may contain only visible ASCII characters, with spaces and tabs between them';

test.each([
  null,
  undefined,
  {},
  { 'X-Key': '' },
  { "!#$%&'*+-.^_`|~a": 'a key\twith "anything" that can be seen' },
  { Authorization: 'Basic dXNlcjpwYXNz', 'x-webhook-id': '1', content: 'x', 'X-Serviced': '1' },
  { 'X-Long': 'x'.repeat(4090) },
  Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`x-${index}`, 'x'])),
])('%j may be set', (headers) => {
  expect(problemsOf(headers)).toEqual([]);
});

test.each([
  ...['Connection', 'keep-alive', 'Transfer-Encoding', 'TE', 'Trailer', 'UPGRADE'].map((name) => [
    name,
    CONNECTION,
  ]),
  ...['Proxy-Connection', 'Proxy-Authorization', 'Host', 'Expect'].map((name) => [name, CONNECTION]),
  ...['Content-Type', 'content-length', 'User-Agent', 'webhook-id', 'X-SERVICE-Signature'].map((name) => [
    name,
    OURS,
  ]),
  ...['', 'a b', 'a:', 'a\r\nb', 'ž', '"a"', 'a/b'].map((name) => [name, NAME]),
])('the header %j is refused: %s', (name = '', problem) => {
  expect(problemsOf({ [name]: 'x' })).toEqual([[`headers.${name}`, problem]]);
});

test.each(['a\r\nb: c', 'a\n', '\u0000', '\u007f', 'ž', ' a', 'a\t', '\u2028', '• ••'])(
  'the value %j is refused',
  (value) => {
    expect(problemsOf({ 'X-Key': value })).toEqual([['headers.X-Key', VALUE]]);
  },
);

test.each([
  [['X-Key: a'], [['headers', 'must be an object']]],
  [{ 'X-Key': 7 }, [['headers.X-Key', 'must be a string']]],
  [{ 'X-Key': 'a', 'x-key': 'b' }, [['headers.x-key', 'is there twice']]],
  [
    { 'X-Long': 'x'.repeat(4091) },
    [['headers', 'must be at most 4096 bytes long, names and values together']],
  ],
  [
    Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`x-${index}`, 'x'])),
    [['headers', 'must be at most 16']],
  ],
])('%j is refused: %j', (headers, problems) => {
  expect(problemsOf(headers)).toEqual(problems);
});

test('a mask stands for a value only if one can be stored', () => {
  const sent = { 'X-Key': MASK };
  const nothing = 'there is no stored value that the mask could stand for: send one';
  expect(problemsOf(sent, replacedHeadersField)).toEqual([]);
  expect(problemsOf(sent, newHeadersField)).toEqual([['headers.X-Key', nothing]]);
});

test.each([
  [undefined, null],
  [null, null],
  [{}, null],
  [{ 'X-Key': '' }, { 'X-Key': '' }],
])('a new webhook with %j stores %j', (sent, headers) => {
  expect(headersOrNull(sent)).toEqual(headers);
});

// A generated client checks values with the schema.
test.each([
  ['a value', true, true],
  ['', true, true],
  [' a', false, false],
  [MASK, false, true],
])('%j fits the schema of a new webhook: %s, of a replaced one: %s', (value, ...allowed) => {
  const fits = [newHeadersField, replacedHeadersField].map((field) => {
    const { schema } = describeSchema(v.strictObject({ headers: field }), 'input');
    return new Ajv2020({ strict: false }).compile(Object(schema))({ headers: { 'X-Key': value } });
  });
  expect(fits).toEqual(allowed);
});

describe('a PUT', () => {
  const stored: StaticHeaders = { 'X-Key': 'one', 'X-Other': 'two' };
  const put = (sent: StaticHeaders | null | undefined, url = 'https://shop.example/new', before = stored) =>
    replacedHeaders(sent, url, { url: 'HTTPS://SHOP.example:443/old?x', open: () => before });
  const refused = (...args: Parameters<typeof put>) => {
    try {
      return put(...args);
    } catch (error) {
      return error instanceof Problem && error.status === 400 ? error.message : error;
    }
  };

  test.each([
    [undefined, undefined],
    [null, null],
    [{}, null],
    [{ 'X-Key': MASK }, { 'X-Key': 'one' }],
    [
      { 'x-OTHER': MASK, 'X-New': 'three' },
      { 'x-OTHER': 'two', 'X-New': 'three' },
    ],
  ])('with %j leaves %j', (sent, after) => {
    expect(put(sent)).toEqual(after);
  });

  test('refuses a mask under a new name', () => {
    expect(refused({ 'X-New': MASK, 'X-Key': MASK })).toBe(
      'headers.X-New: no value is stored under this name: send one',
    );
    expect(() =>
      replacedHeaders({ 'X-Key': MASK }, 'http://a.cz', { url: 'http://a.cz', open: null }),
    ).toThrow('headers.X-Key: no value is stored under this name');
  });

  test.each(['http://shop.example/', 'https://other.example/', 'https://shop.example:444/'])(
    'to %s needs every value again',
    (url) => {
      const moved = 'the URL leads to another scheme, host or port: send';
      expect(refused({ 'X-Key': MASK, 'X-Other': 'two' }, url)).toBe(
        `headers.X-Key: ${moved} this value again`,
      );
      expect(refused(undefined, url)).toBe(
        `headers: ${moved} every value again, or null to remove the headers`,
      );
      expect(put({ 'X-Key': 'again' }, url)).toEqual({ 'X-Key': 'again' });
      expect(put(null, url)).toBeNull();
      expect(replacedHeaders(undefined, url, { url: 'https://shop.example', open: null })).toBeUndefined();
    },
  );

  test('counts kept values toward the size limit', () => {
    const long = { 'X-Key': 'x'.repeat(4000) };
    expect(refused({ 'X-Key': MASK, 'X-More': 'y'.repeat(100) }, undefined, long)).toBe(
      'headers: must be at most 4096 bytes long, names and values together',
    );
  });
});

test('names of static headers are shown without values', () => {
  expect(masked(['X-Key', 'X-Other'])).toEqual({ 'X-Key': '•••', 'X-Other': '•••' });
});
