/** The trial of alerts (`npm run alerts`) uses the delivered rules, only with shorter durations. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { SHORTENED, shortened } from '../../faults/alerts/rules.ts';

const file = v.object({
  groups: v.array(
    v.object({
      name: v.string(),
      rules: v.array(v.looseObject({ alert: v.string(), for: v.optional(v.string()) })),
    }),
  ),
});
const delivered = readFileSync(
  join(resolve(import.meta.dirname, '../..'), 'monitoring/prometheus/alerts.yml'),
  'utf8',
);

test('every alert is in the shortened rules, with the same expression and a tenth of its duration', () => {
  const [before] = v.parse(file, parse(delivered)).groups;
  const [after] = v.parse(file, parse(shortened(delivered, 10))).groups;
  expect(after?.name).toBe(SHORTENED);
  expect(after?.rules.map(({ for: _, ...rule }) => rule)).toEqual(
    before?.rules.map(({ for: _, ...rule }) => rule),
  );
  const durations = (rules: typeof after) =>
    Object.fromEntries(rules?.rules.map((rule) => [rule.alert, rule.for]) ?? []);
  expect(durations(before)).toMatchObject({ WaybillTemporalAway: '2m', WaybillPartitionsRunOut: '1h' });
  expect(durations(after)).toMatchObject({
    WaybillTemporalAway: '12s',
    WaybillOutboxStaysBehind: '90s',
    WaybillPartitionsRunOut: '360s',
  });
});

test('what it cannot divide it does not leave as it is', () => {
  expect(() => shortened('for: 1h30m', 10)).toThrow('for: 1h30m is not understood.');
  expect(shortened('for: 5s', 10)).toBe('for: 1s');
});
