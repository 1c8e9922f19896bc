/** What is left of an order and of its return once the customer is erased (docs/interface.md, O14). */
import { expect, test } from 'vitest';
import { sampleOrder } from '../../../src/domain/order/record.ts';
import { withoutPersonalData } from '../../../src/domain/personal-data.ts';
import { sampleReturn } from '../../../src/domain/return/schema.ts';

const nulls = (...names: string[]) => Object.fromEntries(names.map((name) => [name, null]));
const PARTY = ['Name', 'CompanyName', 'Email', 'Phone', 'Street', 'City', 'PostCode', 'Country'];

test('an order loses recipient, billing, pickup point, notes and files, and nothing else', () => {
  const status = { status: 'received', at: '2026-11-20T19:33:00.000Z' } as const;
  const order = { ...sampleOrder, statusHistory: [{ ...status, note: 'Zoe called' }] };
  expect(withoutPersonalData('order', order)).toEqual({
    ...order,
    ...nulls(...PARTY.flatMap((name) => [`recipient${name}`, `billing${name}`]), 'pickupPoint', 'note'),
    orderFiles: [],
    statusHistory: [{ ...status, note: null }],
  });
});

test('a return loses its free texts, and nothing else', () => {
  const texts = { description: 'of Zoe', eshopNote: 'for Zoe', note: 'by Zoe' };
  expect(withoutPersonalData('return', { ...sampleReturn, ...texts })).toEqual({
    ...sampleReturn,
    ...nulls(...Object.keys(texts)),
  });
});
