import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { moveOrder } from '../../src/domain/order/changes.ts';
import { sampleOrder } from '../../src/domain/order/record.ts';
import { orderStatuses, orderTransitions } from '../../src/domain/order/status.ts';

test('transitions are those of the interface', () => {
  const text = readFileSync(new URL('../../docs/interface.md', import.meta.url), 'utf8');
  const rows = (text.match(/^\| `.+\|$/gm) ?? []).map((row) => row.split('|'));
  const names = (cell = '') => (cell.match(/\w+/g) ?? []).sort();
  const ways = rows.flatMap(([, from, to]) => names(from).map((status) => [status, names(to)]));
  const shown = Object.entries<readonly string[]>(orderTransitions).filter(([, to]) => to.length > 0);
  expect(Object.fromEntries(ways)).toEqual(
    Object.fromEntries(shown.map(([status, to]) => [status, to.toSorted()])),
  );
});

test('any sequence of moves keeps to the transitions, and the history lists them', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...orderStatuses), { maxLength: 60 }), (tries) => {
      let order = { ...sampleOrder, status: orderStatuses[0] };
      for (const to of tries) {
        const ways: readonly string[] = orderTransitions[order.status];
        if (!ways.includes(to)) {
          expect(() => moveOrder(order, to, null, new Date())).toThrow('cannot become');
          continue;
        }
        const from = order.status;
        order = moveOrder(order, to, null, new Date());
        expect(order.status).toBe(to);
        expect(order.statusHistory.at(-1)?.status).toBe(to);
        expect(orderTransitions[from]).toContain(to);
      }
    }),
  );
});
