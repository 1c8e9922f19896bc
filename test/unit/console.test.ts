/** The pure parts of the console. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { queryText } from '../../src/console/api-client.ts';
import { curlOf } from '../../src/console/deliveries/curl.ts';
import { Chart, roundAbove } from '../../src/console/overview/chart.tsx';
import { rangeOf } from '../../src/console/overview/ranges.ts';
import { csrfToken, isCsrfToken } from '../../src/console/session.ts';
import { fromField } from '../../src/console/times.tsx';

test.each(["it's", '$(touch /tmp/no) `id` \\ "x"', 'Zoë\nnew line', "'; rm -rf / #"])(
  'a curl command says what was sent, and nothing of it is run by the shell: %j',
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
  [3, 5],
  [10, 10],
  [11, 20],
  [4_300, 5_000],
])('the axis of a chart ends with the next round number: %i → %i', (count, end) => {
  expect(roundAbove(count)).toBe(end);
});

test('numbers beside a chart are short, so that a narrow screen has room for them', () => {
  const now = new Date();
  const steps = [{ at: now, delivered: 4_300, waiting: 0, lost: 0, superseded: 0 }];
  const drawn = String(Chart({ steps, range: rangeOf('1h'), now }));
  expect(drawn.match(/(?<=text-anchor="end">)[^<]+/g)).toEqual(['0', '2.5K', '5K']);
});

test('superseded deliveries are drawn, and named only where there are any', () => {
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

test('a form carries the token of its own session', () => {
  expect(isCsrfToken('a', csrfToken('a'))).toBe(true);
  expect(isCsrfToken('a', csrfToken('b'))).toBe(false);
  expect(isCsrfToken('a', '')).toBe(false);
  expect(isCsrfToken('a', `${csrfToken('a')}=`)).toBe(false);
});

test('a local time of a form is one of UTC; anything else stays as it is, to be refused', () => {
  expect(fromField('2026-11-22T17:30')).toBe('2026-11-22T17:30Z');
  expect(fromField('2026-11-22T17:30:05.5')).toBe('2026-11-22T17:30:05.5Z');
  expect(fromField('yesterday')).toBe('yesterday');
  expect(fromField(undefined)).toBeUndefined();
});

test('what is empty is not asked for', () => {
  expect(queryText({ state: '', entityId: 'a&b', page: undefined })).toBe('?entityId=a%26b');
  expect(queryText({})).toBe('');
});
