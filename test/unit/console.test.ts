/** The pure parts of the console. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { queryText } from '../../src/console/api-client.ts';
import { curlOf } from '../../src/console/deliveries/page.tsx';
import { namesOf, Sentence } from '../../src/console/names.tsx';
import { Chart, rangeOf, roundAbove } from '../../src/console/overview/chart.tsx';
import { problemsIn } from '../../src/console/problems.ts';
import { csrfToken, isCsrfToken } from '../../src/console/session.ts';
import { fromField } from '../../src/console/times.tsx';
import { nameOf } from '../../src/domain/webhook-name.ts';

test.each(["it's", '$(touch /tmp/no) `id` \\ "x"', 'Zoë\nnew line', "'; rm -rf / #"])(
  'a curl command repeats the request, and the shell runs nothing in it: %j',
  (note) => {
    const body = JSON.stringify({ note });
    const url = `https://shop.example/hook?note=${note.replaceAll(/\s/g, '+')}`;
    const command = curlOf({ method: 'POST', url, headers: { 'x-service-event': note }, body });
    const said = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${command}`], {
      encoding: 'utf8',
    });
    expect(said.split('\0').slice(0, -1)).toEqual([
      '--globoff',
      '--request',
      'POST',
      url,
      '--header',
      `x-service-event: ${note}`,
      '--data-raw',
      body,
    ]);
  },
);

test.each([
  [0, 1],
  [1, 1],
  [3, 3],
  [7, 8],
  [10, 10],
  [11, 12],
  [613, 800],
  [4_300, 5_000],
])('the axis of a chart ends at a round number: %i → %i', (count, end) => {
  expect(roundAbove(count)).toBe(end);
});

test('numbers beside a chart are abbreviated', () => {
  const now = new Date();
  const steps = [{ at: now, delivered: 4_300, waiting: 0, lost: 0, superseded: 0 }];
  const drawn = String(Chart({ steps, range: rangeOf('1h'), now }));
  expect(drawn.match(/(?<=text-anchor="end">)[^<]+/g)).toEqual(['0', '2.5K', '5K']);
});

test('superseded deliveries are drawn, and named only if there are any', () => {
  const now = new Date('2026-11-20T12:00:00Z');
  const drawn = (superseded: number) => {
    const steps = [{ at: now, delivered: 0, waiting: 0, lost: 0, superseded }];
    return String(Chart({ steps, range: rangeOf('1h'), now }));
  };
  expect(drawn(1)).toContain('<rect class="calm"');
  expect(drawn(1).match(/superseded/g)).toHaveLength(2);
  expect(drawn(1)).toContain('1 in all, 0 of them failed');
  expect(drawn(0)).not.toContain('superseded');
});

test("a form's token is valid only for its own session", () => {
  expect(isCsrfToken('a', csrfToken('a'))).toBe(true);
  expect(isCsrfToken('a', csrfToken('b'))).toBe(false);
  expect(isCsrfToken('a', '')).toBe(false);
  expect(isCsrfToken('a', `${csrfToken('a')}=`)).toBe(false);
});

test("a form's local time is taken as UTC; anything else is passed on, to be refused", () => {
  expect(fromField('2026-11-22T17:30')).toBe('2026-11-22T17:30Z');
  expect(fromField('2026-11-22T17:30:05.5')).toBe('2026-11-22T17:30:05.5Z');
  expect(fromField('yesterday')).toBe('yesterday');
  expect(fromField(undefined)).toBeUndefined();
});

test('empty filters are left out of a query', () => {
  expect(queryText({ state: '', entityId: 'a&b', page: undefined })).toBe('?entityId=a%26b');
  expect(queryText({})).toBe('');
});

test.each([
  [
    { url: 'https://shop.example:8443/hooks/orders/?key=secret', description: null },
    'shop.example:8443/hooks/orders',
  ],
  [{ url: 'https://shop.example/', description: ' ' }, 'shop.example'],
  [{ url: 'https://shop.example/', description: 'ERP\nasked for by Jan' }, 'ERP'],
  [{ url: 'https://shop.example/', description: 'x'.repeat(61) }, `${'x'.repeat(60)}…`],
])('a webhook is named by its description, or by host and path: %j', (webhook, name) => {
  expect(nameOf(webhook)).toBe(name);
});

test('webhooks with the same name also show their numbers', () => {
  const webhook = (id: number, description: string) => ({ id, url: 'https://shop.example/', description });
  const names = namesOf([webhook(1, 'ERP'), webhook(2, 'ERP'), webhook(3, 'till')]);
  expect([...names.values()].map(({ name }) => name)).toEqual(['ERP #1', 'ERP #2', 'till']);
});

test('identifiers in a sentence become links, times are shortened, and the rest is escaped', () => {
  const names = namesOf([{ id: 7, url: 'https://shop.example/', description: '<ERP>' }]);
  const id = '019a0000-0000-7000-8000-0000001234ab';
  const text = `Webhook 7 was inactive since 2020-11-20T10:00:00.000Z, after delivery ${id} <failed>.`;
  expect(String(Sentence({ text, names }))).toBe(
    '<a class="wrap" href="/console/webhooks/7">&lt;ERP&gt;</a> was inactive since <time datetime="2020-11-20T10:00:00.000Z" ' +
      'title="2020-11-20 10:00:00 UTC" class="at">20 Nov 2020, 10:00:00</time>, after ' +
      `<a href="/console/deliveries/${id}">delivery …1234ab</a> &lt;failed&gt;.`,
  );
});

test('a refusal is split into the problems of known fields and the rest', () => {
  const paths = ['url', 'headers', 'parameters.onStockChange'];
  const refused = [
    { path: 'url', message: 'must be a URL; not a; path: x' },
    { path: 'headers.X-A', message: 'is bad' },
    { path: 'headers.X-B', message: 'is worse' },
    { path: 'parameters.onStockChange', message: 'is for products' },
    { path: 'urls', message: 'unknown field' },
    { path: 'other', message: 'is wrong' },
  ];
  expect(problemsIn(refused, paths)).toEqual({
    at: {
      url: 'Must be a URL; not a; path: x.',
      headers: '“X-A” is bad. “X-B” is worse.',
      onStockChange: 'Is for products.',
    },
    rest: 'urls: unknown field; other: is wrong. Check the 3 marked fields.',
  });
  expect(problemsIn('The contract allows at most 3 webhooks.', paths)).toEqual({
    at: {},
    rest: 'The contract allows at most 3 webhooks.',
  });
  expect(problemsIn([{ path: '', message: 'is no form' }], []).rest).toBe('is no form');
  expect(problemsIn(undefined, paths)).toEqual({ at: {}, rest: undefined });
});
