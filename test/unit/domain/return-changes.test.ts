/** The changes to a return: from the record before to the record after. */
import { describe, expect, test } from 'vitest';
import {
  countReturn,
  moveReturn,
  returnChangeableOnArrival,
  returnEdits,
} from '../../../src/domain/return/changes.ts';
import {
  type ReturnLine,
  type ReturnLinesInput,
  type ReturnRecord,
  sampleReturn,
} from '../../../src/domain/return/schema.ts';
import { problemMessage } from '../../support/api/problem-message.ts';

const { make: newReturn, patch: patchReturn, replace: replaceReturn } = returnEdits;
const created = '2026-11-20T12:00:00.000Z';
const context = { now: new Date(created), knownSkus: new Set(['TEA', 'CUP']) };
const body = {
  eshopReturnId: 'R-1',
  returnedOrderProducts: [{ sku: 'TEA', quantity: 2, returnReason: 'unwanted' }],
};
const tea: ReturnLine = {
  sku: 'TEA',
  quantity: '2',
  received: null,
  returnReason: 'unwanted',
  resolution: null,
  lot: null,
  lineState: 'E',
};
const record = newReturn(body, context);
const later = new Date('2026-11-21T00:00:00.000Z');
const at = later.toISOString();

describe('a new return', () => {
  test('fills a minimal body up to a whole record', () => {
    expect(record).toEqual({
      eshopReturnId: 'R-1',
      eshopOrderId: null,
      orderType: null,
      description: null,
      shipper: null,
      shipperServiceCode: null,
      trackingNumber: null,
      eshopNote: null,
      returnedOrderProducts: [tea],
      rma: null,
      note: null,
      status: 'awaiting',
      createdAt: created,
      updatedAt: created,
      confirmedAt: null,
      receivedAt: null,
      canceledAt: null,
    });
    expect(Object.keys(record).sort()).toEqual(Object.keys(sampleReturn).sort());
  });

  test("ignores the warehouse's fields, and drops lines marked D", () => {
    const sent = {
      ...record,
      note: 'mine',
      status: 'completed',
      createdAt: 'x',
      updatedAt: 'x',
      confirmedAt: 'x',
      receivedAt: 'x',
      canceledAt: 'x',
      returnedOrderProducts: [
        { ...tea, received: '9', resolution: 'dispose', lineState: 'E' },
        { ...tea, sku: 'CUP', lineState: 'D' },
      ],
    };
    expect(newReturn(sent, context)).toEqual(record);
  });

  test('is refused for an unknown or repeated product', () => {
    const returnedOrderProducts = [
      { sku: 'PAN', quantity: 1 },
      { sku: 'TEA', quantity: 1 },
      { sku: 'TEA', quantity: 1 },
    ];
    expect(problemMessage(() => newReturn({ ...body, returnedOrderProducts }, context))).toBe(
      '400 returnedOrderProducts.0.sku: "PAN" is not a known product; returnedOrderProducts.2: has the same product and lot as returnedOrderProducts.1: combine them into one line',
    );
  });
});

describe('an update', () => {
  test('PUT resets omitted fields, marks omitted lines D, and keeps the rest', () => {
    const before: ReturnRecord = { ...record, description: 'd', note: 'internal' };
    expect(replaceReturn(before, { returnedOrderProducts: [{ sku: 'CUP', quantity: 1 }] }, context)).toEqual({
      ...record,
      note: 'internal',
      returnedOrderProducts: [
        { ...tea, lineState: 'D' },
        { ...tea, sku: 'CUP', quantity: '1', returnReason: null },
      ],
    });
  });

  test('PATCH changes only the fields sent, and keeps counts', () => {
    const counted: ReturnRecord = {
      ...record,
      returnedOrderProducts: [{ ...tea, received: '1', resolution: 'dispose' }],
    };
    expect(patchReturn(counted, { rma: '5' }, context)).toEqual({ ...counted, rma: '5' });
    expect(patchReturn(counted, counted, context)).toEqual(counted);
    expect(patchReturn(counted, { returnedOrderProducts: [{ sku: 'TEA', quantity: 9 }] }, context)).toEqual({
      ...counted,
      returnedOrderProducts: [
        { ...tea, quantity: '9', returnReason: null, received: '1', resolution: 'dispose' },
      ],
    });
  });

  test.each(['arrived', 'processing', 'completed', 'rejected', 'canceled'] as const)(
    'only a few fields may change while the return is %s',
    (status) => {
      const there: ReturnRecord = { ...record, status };
      const few = { description: 'd', eshopNote: 'n', rma: '5' };
      expect(Object.keys(few)).toEqual(returnChangeableOnArrival);
      expect(patchReturn(there, few, context)).toEqual({ ...there, ...few });
      expect(problemMessage(() => patchReturn(there, { shipper: 'PPL', rma: '5' }, context))).toBe(
        `409 The return is ${status}; only description, eshopNote, rma can still be changed, not shipper.`,
      );
    },
  );
});

describe('a move', () => {
  const processing: ReturnRecord = { ...record, status: 'processing', note: 'before' };

  test.each([
    ['awaiting', 'arrived', { receivedAt: at }],
    ['processing', 'completed', { confirmedAt: at }],
    ['awaiting', 'canceled', { canceledAt: at }],
    ['arrived', 'processing', {}],
    ['processing', 'rejected', {}],
  ] as const)('from %s to %s sets the time of the new status', (from, to, times) => {
    const before: ReturnRecord = { ...record, status: from };
    expect(moveReturn(before, to, null, later)).toEqual({ ...before, status: to, ...times });
    const known = { confirmedAt: created, receivedAt: created, canceledAt: created };
    expect(moveReturn({ ...before, ...known }, to, null, later)).toMatchObject({ ...known, ...times });
  });

  test("takes the warehouse's note, or keeps the previous one", () => {
    expect(moveReturn(processing, 'completed', 'opened', later).note).toBe('opened');
    expect(moveReturn(processing, 'completed', null, later).note).toBe('before');
  });
});

describe('entering counts', () => {
  type Entry = ReturnLinesInput['returnedOrderProducts'][number];
  const entry = (more: Partial<Entry>): Entry => ({
    ...{ sku: 'TEA', lot: null, received: '1', resolution: 'qualityHold' },
    ...{ quantity: undefined, returnReason: undefined, lineState: undefined },
    ...more,
  });
  const arrived: ReturnRecord = { ...record, status: 'arrived' };
  const count = (...entries: Partial<Entry>[]) =>
    countReturn(arrived, { returnedOrderProducts: entries.map(entry) }).returnedOrderProducts;
  const counted = { ...tea, received: '1', resolution: 'qualityHold' };

  test('takes the units with their resolution', () => {
    expect(count({})).toEqual([counted]);
    expect(count({ lineState: 'E' })).toEqual([counted]);
    expect(count({ lineState: 'D' })).toEqual([tea]);
  });

  test('adds a line for another lot, with nothing announced', () => {
    expect(count({ lot: 'A' }, { lot: 'B' })).toEqual([
      { ...counted, lot: 'A' },
      { ...counted, lot: 'B', quantity: '0' },
    ]);
  });

  test('refuses products that were not announced, and an entry named twice', () => {
    expect(problemMessage(() => count({ sku: 'CUP' }))).toBe(
      '400 returnedOrderProducts.0.sku: "CUP" was not announced',
    );
    expect(problemMessage(() => count({ lot: 'A' }, { lot: 'A' }))).toBe(
      '400 returnedOrderProducts.1: appears twice: enter the sum',
    );
  });

  test.each(['arrived', 'processing'] as const)('is possible while the return is %s', (status) => {
    expect(countReturn({ ...record, status }, { returnedOrderProducts: [entry({})] })).toMatchObject({
      status,
    });
  });

  test.each(['awaiting', 'completed', 'rejected', 'canceled'] as const)(
    'is refused while the return is %s',
    (status) => {
      expect(problemMessage(() => countReturn({ ...record, status }, { returnedOrderProducts: [] }))).toBe(
        `409 The return is ${status}: counts can be entered only while it is arrived or processing.`,
      );
    },
  );
});
