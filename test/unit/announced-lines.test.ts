/** Announced lines under any sequence of changes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AnnouncedLine, announce, enabled, enterCounts } from '../../src/domain/announced-lines.ts';

const sku = fc.constantFrom('TEA', 'CUP', 'POT');
const lot = fc.constantFrom(null, 'A', 'B');
const key = ({ sku, lot }: { sku: string; lot: string | null }) => `${sku} ${lot}`;
const announcement = fc.uniqueArray(fc.record({ sku, lot, quantity: fc.constantFrom('1', '2.5') }), {
  selector: key,
  minLength: 1,
});
type Sent = { sku: string; lot: string | null; quantity: string };
const fresh = (sent: Sent): AnnouncedLine => ({ ...sent, received: null, lineState: 'E' });

test("after any updates the last one's lines are enabled, and no line has disappeared or moved", () => {
  fc.assert(
    fc.property(fc.array(announcement, { minLength: 1, maxLength: 6 }), (updates) => {
      let lines: AnnouncedLine[] = [];
      for (const sent of updates) {
        const before = lines.map(key);
        lines = announce(lines, sent, fresh);
        expect(lines.map(key).slice(0, before.length)).toEqual(before);
        expect(new Set(lines.map(key)).size).toBe(lines.length);
        const byKey = (a: Sent, b: Sent) => key(a).localeCompare(key(b));
        const now = enabled(lines).map(({ sku, lot, quantity }) => ({ sku, lot, quantity }));
        expect(now.sort(byKey)).toEqual(sent.toSorted(byKey).map((each) => ({ ...each })));
      }
    }),
  );
});

test('counts go to the line of their lot, else to one without a lot, else to a new line', () => {
  const line = (sku: string, lot: string | null): AnnouncedLine => fresh({ sku, lot, quantity: '5' });
  const lines = [line('TEA', null), line('CUP', 'A'), { ...line('POT', null), lineState: 'D' as const }];
  const enter = (...entries: { sku: string; lot: string | null; received: string }[]) =>
    enterCounts(lines, entries, 'products', (announced) => announced).map(
      ({ sku, lot, quantity, received }) => [sku, lot, quantity, received].join(' '),
    );
  expect(enter({ sku: 'TEA', lot: 'X', received: '2' })[0]).toBe('TEA X 5 2');
  expect(enter({ sku: 'CUP', lot: null, received: '2' })[1]).toBe('CUP A 5 2');
  expect(enter({ sku: 'CUP', lot: 'B', received: '2' }).slice(1)).toEqual([
    'CUP A 5 ',
    'POT  5 ',
    'CUP B 0 2',
  ]);
  expect(() => enter({ sku: 'POT', lot: null, received: '1' })).toThrow(
    'products.0.sku: "POT" was not announced',
  );
});
