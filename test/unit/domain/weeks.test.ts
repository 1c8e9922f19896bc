/** Weeks: they begin on Monday, 00:00 UTC. */
import { expect, test } from 'vitest';
import { weekName, weekOf, weeksBetween } from '../../../src/domain/weeks.ts';

test.each([
  ['2026-11-23T00:00:00.000Z', '20261123'],
  ['2026-11-29T23:59:59.999Z', '20261123'],
  ['2026-11-22T23:59:59.999Z', '20261116'],
  ['1970-01-01T00:00:00.000Z', '19691229'],
])('%s is in the week of Monday %s', (time, name) => {
  const monday = weekOf(new Date(time));
  expect(weekName(monday)).toBe(name);
  expect(monday.toISOString()).toMatch(/T00:00:00\.000Z$/);
});

test.each<[string, string[]]>([
  ['2026-11-09T00:00:00.000Z', []],
  ['2026-11-09T00:00:00.001Z', ['20261109']],
  ['2026-11-23T00:00:00.000Z', ['20261109', '20261116']],
  ['2026-11-24T00:00:00.000Z', ['20261109', '20261116', '20261123']],
])('from 9 November to %s there are the weeks %j', (until, names) => {
  expect(weeksBetween(new Date('2026-11-09'), new Date(until)).map(weekName)).toEqual(names);
});
