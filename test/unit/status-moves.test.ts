/** The statuses of orders, receivings and returns under any sequence of moves. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { moveOrder } from '../../src/domain/order/changes.ts';
import { sampleOrder } from '../../src/domain/order/record.ts';
import type { OrderRecord } from '../../src/domain/order/schema.ts';
import { orderStatuses, orderTransitions } from '../../src/domain/order/status.ts';
import { moveReceiving } from '../../src/domain/receiving/changes.ts';
import { type ReceivingRecord, sampleReceiving } from '../../src/domain/receiving/schema.ts';
import { receivingStatuses, receivingTransitions } from '../../src/domain/receiving/status.ts';
import { moveReturn } from '../../src/domain/return/changes.ts';
import { type ReturnRecord, sampleReturn } from '../../src/domain/return/schema.ts';
import { returnStatuses, returnTransitions } from '../../src/domain/return/status.ts';

test('the transitions of orders are those of the interface', () => {
  const text = readFileSync(new URL('../../docs/interface.md', import.meta.url), 'utf8');
  const rows = (text.match(/^\| `.+\|$/gm) ?? []).map((row) => row.split('|'));
  const names = (cell = '') => (cell.match(/\w+/g) ?? []).sort();
  const ways = rows.flatMap(([, from, to]) => names(from).map((status) => [status, names(to)]));
  const shown = Object.entries<readonly string[]>(orderTransitions).filter(([, to]) => to.length > 0);
  expect(Object.fromEntries(ways)).toEqual(
    Object.fromEntries(shown.map(([status, to]) => [status, to.toSorted()])),
  );
});

test('the transitions of receivings and returns are those of the interface', () => {
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

/** @param noun what a refusal calls a record @param first one in the first status @param move throws if it refuses */
function keepsTo<Status extends string, Rec extends { readonly status: Status }>(
  noun: string,
  transitions: Readonly<Record<Status, readonly string[]>>,
  statuses: readonly Status[],
  first: Rec,
  move: (record: Rec, to: Status) => Rec,
): void {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...statuses), { maxLength: 60 }), (tries) => {
      let record = first;
      for (const to of tries) {
        const { status: from } = record;
        const isAllowed = transitions[from].includes(to);
        if (isAllowed) record = move(record, to);
        else expect(() => move(record, to)).toThrow(`The ${noun} is ${from} and cannot become ${to}`);
        expect(record.status).toBe(isAllowed ? to : from);
      }
    }),
  );
}

test('orders keep to their transitions in any sequence of moves, and the history lists them', () => {
  const first: OrderRecord = { ...sampleOrder, status: orderStatuses[0] };
  keepsTo('order', orderTransitions, orderStatuses, first, (order, to) => {
    const moved = moveOrder(order, to, null, new Date());
    expect(moved.statusHistory.at(-1)?.status).toBe(to);
    return moved;
  });
});

test('receivings keep to their transitions in any sequence of moves', () => {
  const first: ReceivingRecord = { ...sampleReceiving, status: receivingStatuses[0] };
  keepsTo('receiving', receivingTransitions, receivingStatuses, first, moveReceiving);
});

test('returns keep to their transitions in any sequence of moves', () => {
  const first: ReturnRecord = { ...sampleReturn, status: returnStatuses[0] };
  keepsTo('return', returnTransitions, returnStatuses, first, (record, to) =>
    moveReturn(record, to, null, new Date()),
  );
});
