/** The demonstration's day as data. test/e2e/demo.test.ts plays a whole day. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { planDay } from '../../demo/day.ts';
import { randomFrom } from '../../demo/random.ts';
import { type Call, firedBy, stepsOf } from '../../demo/steps.ts';
import { eventTypeNames } from '../../src/domain/event-types.ts';
import { shippedCatalogue } from '../../src/domain/shipper-services.ts';
import { progressLines } from '../../src/lib/progress.ts';

const now = new Date('2026-11-20T08:00:00Z');
const day = (seed: string, orders: number, prefix = 'D1') =>
  planDay({ prefix, random: randomFrom(seed), shippers: shippedCatalogue }, orders);
const bodyOf = ({ body }: Call): object => (typeof body === 'function' ? body(now) : body);
/** The day as it would be sent. */
const sent = (seed: string, orders: number, prefix?: string) =>
  JSON.stringify(
    stepsOf(day(seed, orders, prefix)).map((step) =>
      'body' in step ? { ...step, body: bodyOf(step) } : step,
    ),
  );

describe('a day', () => {
  it('is the same for the same seed, and different for another', () => {
    expect(sent('monday', 30)).toBe(sent('monday', 30));
    expect(sent('monday', 30)).not.toBe(sent('tuesday', 30));
  });

  it.each([1, 2, 50])('with %i orders fires every event type', (orders) => {
    expect([...firedBy(stepsOf(day('any', orders))).keys()].sort()).toEqual([...eventTypeNames].sort());
  });

  it('fires as many events as the README shows', () => {
    const fired = firedBy(stepsOf(day('demo', 50)));
    const all = [...fired.values()].reduce((sum, count) => sum + count, 0);
    const rows = readFileSync('README.md', 'utf8').matchAll(/^(\w+) +(\d+) +(\d+)$/gm);
    const shown = [...rows].map(([, kind = '', ...counts]) => [kind, ...counts.map(Number)]);
    expect(shown.length).toBeGreaterThan(1);
    for (const [kind, ...counts] of shown) {
      const count = kind === 'all' ? all : [...fired].find(([type]) => type === kind)?.[1];
      expect(counts, String(kind)).toEqual([count, count]);
    }
  });
});

it('without a terminal, progress is printed at once and then every few seconds', () => {
  const shown = (intervalMs: number) => {
    const lines: string[] = [];
    const progress = progressLines((line) => lines.push(line), intervalMs);
    for (let done = 1; done <= 10; done += 1) progress.show(done, 10, 'Deliveries arrive');
    return lines;
  };
  expect(shown(3_600_000)).toEqual([' 1/10  Deliveries arrive\n']);
  expect(shown(0)).toHaveLength(10);
});
