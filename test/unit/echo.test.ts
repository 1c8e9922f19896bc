/** Values of static headers in a receiver's response (docs/interface.md, W16): masked in whatever form. */
import { expect, test } from 'vitest';
import { withoutEchoes } from '../../src/delivery/echo.ts';

const KEY = `k<&>"'/\\+ 42%e`;
const encoded = encodeURIComponent(KEY);
const base64 = Buffer.from(KEY).toString('base64');

test.each([
  ['as it is', KEY],
  ['in small letters', KEY.toLowerCase()],
  ['in capitals', KEY.toUpperCase()],
  ['in JSON', JSON.stringify(KEY).slice(1, -1)],
  ['in JSON that escapes slashes', JSON.stringify(KEY).slice(1, -1).replace('/', '\\/')],
  ['in a URL', encoded],
  ['in a URL, in small letters', encoded.toLowerCase()],
  ['in a form', encoded.replaceAll('%20', '+')],
  ['in HTML', 'k&lt;&amp;&gt;&quot;&#39;/\\+ 42%e'],
  ['in Base64', base64],
  ['in Base64 in a URL', encodeURIComponent(base64)],
  ['in Base64 for URLs', Buffer.from(KEY).toString('base64url')],
  ['in hexadecimal', Buffer.from(KEY).toString('hex')],
])('a key is masked %s, even if cut off', (_, written) => {
  const hide = withoutEchoes({ a: KEY });
  expect(hide(`before ${written} after`)).toBe('before ••• after');
  for (let length = 14; length < written.length; length += 1)
    expect(hide(written.slice(0, length)), written.slice(0, length)).toBe('•••');
});

test('words of six characters or more are masked, and the beginning of one at the end', () => {
  const hide = withoutEchoes({ authorization: 'Basic dXNlcjpwYXNz', twice: 'a\\\\b-c' });
  expect(hide('/login?key=dXNlcjpwYXNz#Basic')).toBe('/login?key=•••#Basic');
  expect(hide('cut dXNlcj')).toBe('cut •••');
  expect(hide('cut dXNlc')).toBe('cut dXNlc');
  expect(hide('twice a\\\\b-c')).toBe('twice •••');
});

test.each([
  ['a Basic header, decoded', 'Basic c2hvcDpodW50ZXIy', 'who: shop:hunter2.', 'who: •••.'],
  [
    'the password of a Basic header',
    'Basic c2hvcDpodW50ZXIy',
    'password hunter2 of shop',
    'password ••• of shop',
  ],
  ['a parameter', 'Token token="T0k3nT0k3n", id=7', 'no token T0k3nT0k3n', 'no token •••'],
  ['a cookie', 'theme=dark; session=s3ss10n%2Fid', 'session s3ss10n/id is over', 'session ••• is over'],
  [
    'a token in Base64',
    'Bearer t0ken-of-ours',
    `got ${Buffer.from('t0ken-of-ours').toString('base64')}`,
    'got •••',
  ],
])('the credentials of a value are masked: %s', (_, value, text, shown) => {
  expect(withoutEchoes({ authorization: value })(text)).toBe(shown);
});

test('a short value is masked only as a word, and one of two characters not at all', () => {
  const hide = withoutEchoes({ a: 'abc', b: '42' });
  expect(hide('{"a":"abc","b":"42"} abcd xabc abc')).toBe('{"a":"•••","b":"42"} abcd xabc •••');
});

test('a tab is found as JSON writes it, and the name of a scheme stays', () => {
  const hide = withoutEchoes({ a: 'k1\tx9Z2q', authorization: 'Bearer dXNlcjpwYXNz' });
  expect(hide('{"a":"k1\\tx9Z2q"} Bearer token dXNlcjpwYXNz')).toBe('{"a":"•••"} Bearer token •••');
});

test('text without a static header is unchanged', () => {
  expect(withoutEchoes({})('abc')).toBe('abc');
  const text = '50% of &amp; \\u0041bc \\ % & &#1; kůň';
  expect(withoutEchoes({ a: 'something else' })(text)).toBe(text);
});
