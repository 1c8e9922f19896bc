/** Values of static headers in a receiver's response (docs/interface.md, W16): masked in whatever form. */
import { expect, test } from 'vitest';
import { withoutEchoes } from '../../src/delivery/echo.ts';

const KEY = `k<&>"'/\\+ 42%e`;
const encoded = encodeURIComponent(KEY);
const base64 = Buffer.from(KEY).toString('base64');

test.each([
  ['as it is', KEY],
  ['in JSON', JSON.stringify(KEY).slice(1, -1)],
  [
    'in JSON that spares HTML',
    JSON.stringify(KEY).slice(1, -1).replace('<', '\\u003c').replace('>', '\\u003E').replace('&', '\\u0026'),
  ],
  ['in JSON that escapes slashes', JSON.stringify(KEY).slice(1, -1).replace('/', '\\/')],
  ['in a URL', encoded],
  ['in a URL, in small letters', encoded.replaceAll(/%../g, (code) => code.toLowerCase())],
  ['in a form', encoded.replaceAll('%20', '+')],
  ['in HTML', 'k&lt;&amp;&gt;&quot;&apos;/\\+ 42%e'],
  ['in HTML by numbers', 'k&#60;&#x26;&gt;&#34;&#39;/\\+ 42%e'],
  ['in Base64', base64],
  ['in Base64 in a URL', encodeURIComponent(base64)],
  ['in Base64 for URLs', Buffer.from(KEY).toString('base64url')],
  ['in JSON within JSON', JSON.stringify(JSON.stringify(KEY).slice(1, -1)).slice(1, -1)],
])('is masked %s', (_, written) => {
  const hide = withoutEchoes({ a: KEY });
  expect(hide(`before ${written} after`)).toBe('before ••• after');
  for (let length = 36; length < written.length; length += 1)
    expect(hide(written.slice(0, length)), written.slice(0, length)).toBe('•••');
});

test.each([
  ['in small letters', KEY.toLowerCase()],
  ['in capitals', KEY.toUpperCase()],
  ['in Base64 in capitals', base64.toUpperCase()],
  ['with a character of no width', KEY.replace('42', '4\u200b2')],
  [
    'with a soft hyphen, a joiner and a direction mark',
    `k\u00ad${KEY.slice(1, 3)}\u2060\u202e${KEY.slice(3)}`,
  ],
  ['with a tag outside the first plane', KEY.replace('42', '4\u{e0041}2')],
  ['with a control character, or what it was replaced with', KEY.replace('42', '4\u0007\ufffd2')],
  ['wrapped', KEY.replace('42', '4\r\n2')],
  ['with one in JSON', JSON.stringify(KEY).slice(1, -1).replace('42', '4\\u200B2')],
  ['with one in a URL', encodeURIComponent(KEY.replace('42', '4\u{e0041}\u200b2'))],
  ['with one in HTML', KEY.replace('&', '&amp;').replace('42', '4&#8203;2')],
  ['with spaces of every kind', KEY.replace(' ', '\u00a0').replace('42', '4\u20282\u3000 ')],
  ['with names in HTML', KEY.replace('&', '&amp;').replace('/', '&sol;').replace('42', '4&shy;2&zwnj;')],
  ['with a name in HTML that has no end', KEY.replace('<', '&LT').replace('42', '4&shy2')],
  ['with zeros in HTML', KEY.replace('/', '&#0000047;').replace('<', '&#x00003C;')],
  ['in JavaScript', KEY.replace('<', '\\x3c').replace('/', '\\u{2F}').replace("'", "\\'")],
  ['with %u', KEY.replace('<', '%u003c')],
  ['in hexadecimal', Buffer.from(KEY).toString('hex')],
])('is masked all the same %s', (_, written) => {
  expect(withoutEchoes({ a: KEY })(`before ${written} after`)).toBe('before ••• after');
});

test('its words are masked, from six characters on, and the beginning of one at the end', () => {
  const hide = withoutEchoes({ authorization: 'Basic dXNlcjpwYXNz', twice: 'a\\\\b-c' });
  expect(hide('/login?key=dXNlcjpwYXNz#Basic')).toBe('/login?key=•••#Basic');
  expect(hide('cut dXNlcj')).toBe('cut •••');
  expect(hide('cut dXNlc')).toBe('cut dXNlc');
  expect(hide('twice a\\\\b-c')).toBe('twice •••');
});

test.each([
  ['a Basic header, decoded', 'Basic c2hvcDpodW50ZXIy', 'who: shop:hunter2.', 'who: •••.'],
  ['its password', 'Basic c2hvcDpodW50ZXIy', 'password hunter2 of shop', 'password ••• of shop'],
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

test.each([0, 1, 2, 3])(
  'a value is masked in the Base64 of a text that it begins after %i characters',
  (before) => {
    const value = 'Bearer t0ken-of-ours';
    for (const alphabet of ['base64', 'base64url'] as const) {
      const text = Buffer.from(`${'x'.repeat(before)}${value}: no`).toString(alphabet);
      const shown = withoutEchoes({ authorization: value })(text);
      const left = Buffer.from(shown.replace('•••', ''), 'base64').toString('latin1');
      expect(shown).toContain('•••');
      expect(left).not.toMatch(/t0k|ken|our/);
    }
  },
);

test('a short value is masked where it stands alone, one of two characters nowhere', () => {
  const hide = withoutEchoes({ a: 'abc', b: '42' });
  expect(hide('{"a":"abc","b":"42"} abcd xabc abc')).toBe('{"a":"•••","b":"42"} abcd xabc •••');
});

test('a tab is found as JSON writes it; the name of a scheme stays', () => {
  const hide = withoutEchoes({ a: 'k1\tx9Z2q', authorization: 'Bearer dXNlcjpwYXNz' });
  expect(hide('{"a":"k1\\tx9Z2q"} Bearer token dXNlcjpwYXNz')).toBe('{"a":"•••"} Bearer token •••');
});

test('nothing else is touched', () => {
  expect(withoutEchoes({})('abc')).toBe('abc');
  const text = '50% of &amp; \\u0041bc \\ % & &#1; kůň';
  expect(withoutEchoes({ a: 'something else' })(text)).toBe(text);
});
