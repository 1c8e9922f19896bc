/** Announced lines, and the statuses of receivings and returns, under any sequence of changes. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AnnouncedLine, announce, enabled, enterCounts } from '../../src/domain/announced-lines.ts';
import { moveReceiving } from '../../src/domain/receiving/changes.ts';
import { sampleReceiving } from '../../src/domain/receiving/schema.ts';
import { receivingStatuses, receivingTransitions } from '../../src/domain/receiving/status.ts';
import { moveReturn } from '../../src/domain/return/changes.ts';
import { sampleReturn } from '../../src/domain/return/schema.ts';
import { returnStatuses, returnTransitions } from '../../src/domain/return/status.ts';

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

test('transitions are those of the interface', () => {
  expect(receivingTransitions).toEqual({
    awaiting: ['arrived', 'canceled'],
    arrived: ['received', 'canceled'],
    received: ['stocked'],
    stocked: [],
    canceled: [],
  });
  expect(returnTransitions).toEqual({
    awaiting: ['arrived', 'canceled'],
    arrived: ['processing', 'rejected'],
    processing: ['completed', 'rejected'],
    completed: [],
    rejected: [],
    canceled: [],
  });
});

describe('any sequence of moves keeps to the transitions of', () => {
  test('receivings', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...receivingStatuses), { maxLength: 40 }), (tries) => {
        let receiving = { ...sampleReceiving, status: receivingStatuses[0] };
        for (const to of tries) {
          const from = receiving.status;
          const ways: readonly string[] = receivingTransitions[from];
          if (ways.includes(to)) receiving = moveReceiving(receiving, to);
          else expect(() => moveReceiving(receiving, to)).toThrow(`is ${from} and cannot become ${to}`);
        }
        expect(receivingStatuses).toContain(receiving.status);
      }),
    );
  });

  test('returns', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...returnStatuses), { maxLength: 40 }), (tries) => {
        let record = { ...sampleReturn, status: returnStatuses[0] };
        for (const to of tries) {
          const from = record.status;
          const ways: readonly string[] = returnTransitions[from];
          if (ways.includes(to)) record = moveReturn(record, to, null, new Date());
          else
            expect(() => moveReturn(record, to, null, new Date())).toThrow(
              `is ${from} and cannot become ${to}`,
            );
        }
        expect(returnStatuses).toContain(record.status);
      }),
    );
  });
});
