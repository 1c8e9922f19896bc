import { describe, expect, it } from 'vitest';
import { policyTable } from '../../src/cli/policy-table.ts';
import { briefDuration, duration } from '../../src/domain/duration.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';

it.each([
  [40, '40 ms'],
  [25_000, '25 s'],
  [37_500, '37.5 s'],
  [60_000, '1 min'],
  [126_563, '2 min 7 s'],
  [3_599_900, '1 h'],
  [55_422_851, '15 h 24 min'],
  [172_800_000, '48 h'],
])('%d ms is written %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

it.each([
  [40, '0 s'],
  [37_500, '38 s'],
  [126_563, '2 min'],
  [55_422_851, '15 h'],
  [259_200_000, '3 d'],
])('%d ms is written %s in a narrow column', (ms, text) => {
  expect(briefDuration(ms)).toBe(text);
});

describe('the table of the default policy', () => {
  const lines = policyTable(defaultRetryPolicy).split('\n');

  it('has the first attempt and 20 retries', () => {
    expect(lines.filter((line) => /^\| \d/.test(line))).toHaveLength(21);
    expect(lines[3]).toBe('| 2 | 25 s | 25 s |');
  });

  it('is plain text in a terminal', () => {
    expect(policyTable(defaultRetryPolicy, true).split('\n').slice(0, 3)).toEqual([
      'attempt  after a wait of about  since the first attempt',
      '      1  at once                0 s',
      '      2  25 s                   25 s',
    ]);
  });

  it('ends with their sum', () => {
    expect(lines.at(-1)).toBe('The 20 waits add up to 46.2 h, inside the window of 48 h.');
  });
});

it.each([
  [{ maxRetries: 1, initialIntervalMs: 2_000 }, 'The 1 wait adds up to 2 s, inside the window of 48 h.'],
  [{ maxRetries: 2, initialIntervalMs: 250 }, 'The 2 waits add up to 625 ms, inside the window of 48 h.'],
])('short waits are added up in a fitting unit: %j', (changed, message) => {
  expect(
    policyTable({ ...defaultRetryPolicy, ...changed })
      .split('\n')
      .at(-1),
  ).toBe(message);
});

it('attempts beyond the window are omitted, and the table says so', () => {
  const lines = policyTable({ ...defaultRetryPolicy, windowMs: 120_000 }).split('\n');
  expect(lines.filter((line) => /^\| \d/.test(line))).toHaveLength(4);
  expect(lines.at(-1)).toBe('Attempts 5 to 21 would begin after the window of 2 min and are not made.');
});
