/** The changes to a receiving: from the record before to the record after. */
import { describe, expect, test } from 'vitest';
import { arrivedUnits } from '../../../src/domain/announced-lines.ts';
import {
  changeableOnArrival,
  countReceiving,
  receivingEdits,
} from '../../../src/domain/receiving/changes.ts';
import {
  type ReceivingLine,
  type ReceivingLinesInput,
  type ReceivingRecord,
  sampleReceiving,
} from '../../../src/domain/receiving/schema.ts';
import { problemMessage } from '../../support/api/problem-message.ts';

const { make: newReceiving, patch: patchReceiving, replace: replaceReceiving } = receivingEdits;
const context = { knownSkus: new Set(['TEA', 'CUP', 'POT']) };
const body = {
  eshopReceivingId: 'IN-1',
  supplier: 'Gardens',
  products: [
    { sku: 'TEA', quantity: 5 },
    { sku: 'CUP', quantity: '2.5', lot: 'A', expirationDate: '2027-01-01T00:00:00Z' },
  ],
};
const tea: ReceivingLine = {
  sku: 'TEA',
  quantity: '5',
  lot: null,
  received: null,
  expirationDate: null,
  lineState: 'E',
};
const cup: ReceivingLine = {
  sku: 'CUP',
  quantity: '2.5',
  lot: 'A',
  received: null,
  expirationDate: '2027-01-01T00:00:00.000Z',
  lineState: 'E',
};
const record = newReceiving(body, context);

describe('a new receiving', () => {
  test('fills a minimal body up to a whole record, in the order of the interface', () => {
    expect(record).toEqual({
      eshopReceivingId: 'IN-1',
      carrierInfo: null,
      deliveryNoteNumber: null,
      deliveryType: null,
      description: null,
      driverCompany: null,
      driverDispatcherContact: null,
      driverName: null,
      driverPhone: null,
      driverTrailerLicensePlate: null,
      duty: false,
      estimatedDelivery: null,
      handlingUnits: null,
      packagings: [],
      products: [tea, cup],
      status: 'awaiting',
      supplier: 'Gardens',
      trackingNumber: null,
      unitsAmount: '7.5',
      urgent: null,
    });
    expect(Object.keys(record)).toEqual(Object.keys(sampleReceiving));
  });

  test("ignores the warehouse's fields, and drops lines marked D", () => {
    const sent = {
      ...body,
      status: 'stocked',
      unitsAmount: '99',
      products: [
        ...body.products.map((line) => ({ ...line, received: '9', lineState: 'E' })),
        { sku: 'POT', quantity: 1, lineState: 'D' },
      ],
    };
    expect(newReceiving(sent, context)).toEqual(record);
  });

  test('is refused if all lines are marked D', () => {
    const products = [{ ...tea, lineState: 'D' }];
    expect(problemMessage(() => newReceiving({ ...body, products }, context))).toBe(
      '400 products: must have at least one product',
    );
  });

  test('is refused for an unknown or repeated product, or a quantity of 0', () => {
    const products = [
      { sku: 'TEA', quantity: 0 },
      { sku: 'PAN', quantity: 1 },
      { sku: 'TEA', quantity: 1 },
      { sku: 'TEA', quantity: 1, lot: 'A' },
    ];
    expect(problemMessage(() => newReceiving({ ...body, products }, context))).toBe(
      '400 products.0.quantity: must be greater than 0; products.1.sku: "PAN" is not a known product; products.2: has the same product and lot as products.0: combine them into one line',
    );
  });

  test('is refused if its sum of units has more than 15 digits', () => {
    const products = ['TEA', 'CUP'].map((sku) => ({ sku, quantity: '999999999.999999' }));
    expect(problemMessage(() => newReceiving({ ...body, products }, context))).toBe(
      '400 products: are too many units: their sum has more than 15 digits',
    );
  });
});

describe('an update', () => {
  test('PUT resets omitted fields, marks omitted lines D, and keeps the identifier', () => {
    const before = { ...record, urgent: true, status: 'awaiting' as const };
    const after = replaceReceiving(
      before,
      { supplier: 'Hills', products: [{ sku: 'TEA', quantity: 1 }] },
      context,
    );
    expect(after).toEqual({
      ...record,
      supplier: 'Hills',
      products: [
        { ...tea, quantity: '1' },
        { ...cup, lineState: 'D' },
      ],
      unitsAmount: '1',
    });
  });

  test('PATCH changes only the fields sent', () => {
    expect(patchReceiving(record, { urgent: true }, context)).toEqual({ ...record, urgent: true });
  });

  test('counts are kept, and a line marked D can return', () => {
    const counted = {
      ...record,
      products: [
        { ...tea, received: '4' },
        { ...cup, lineState: 'D' as const },
      ],
    };
    expect(patchReceiving(counted, { products: body.products }, context).products).toEqual([
      { ...tea, received: '4' },
      cup,
    ]);
    expect(patchReceiving(counted, { urgent: true }, context).products).toEqual(counted.products);
  });

  test('a new line goes after the others', () => {
    const products = [{ sku: 'POT', quantity: 1 }, ...body.products];
    expect(patchReceiving(record, { products }, context).products.map(({ sku }) => sku)).toEqual([
      'TEA',
      'CUP',
      'POT',
    ]);
  });

  test.each(['arrived', 'received', 'stocked', 'canceled'] as const)(
    'only a few fields may change while the receiving is %s',
    (status) => {
      const there: ReceivingRecord = { ...record, status };
      const few = {
        carrierInfo: 'c',
        deliveryNoteNumber: 'n',
        description: 'd',
        duty: true,
        trackingNumber: 't',
        urgent: true,
      };
      expect(Object.keys(few)).toEqual(changeableOnArrival);
      expect(patchReceiving(there, few, context)).toEqual({ ...there, ...few });
      expect(
        problemMessage(() =>
          patchReceiving(there, { supplier: 'Hills', driverName: 'Jan', duty: true }, context),
        ),
      ).toBe(
        `409 The receiving is ${status}; only carrierInfo, deliveryNoteNumber, description, duty, trackingNumber, urgent can still be changed, not driverName, supplier.`,
      );
    },
  );
});

describe('entering counts', () => {
  const arrived: ReceivingRecord = { ...record, status: 'arrived' };
  type Entry = ReceivingLinesInput['products'][number];
  const entry = (more: Partial<Entry>): Entry => ({
    ...{ sku: 'TEA', lot: null, received: '5', expirationDate: null },
    ...{ quantity: undefined, lineState: undefined },
    ...more,
  });
  const count = (...entries: Partial<Entry>[]) =>
    countReceiving(arrived, { products: entries.map(entry) }).products;

  test('takes the lot and expiry of the units that arrived', () => {
    const expirationDate = '2028-01-01T00:00:00.000Z';
    expect(count({ lot: 'L', expirationDate })).toEqual([
      { ...tea, lot: 'L', received: '5', expirationDate },
      cup,
    ]);
    expect(count({ sku: 'CUP', received: null })).toEqual([tea, cup]);
    expect(count({ sku: 'CUP', received: '2' })).toEqual([tea, { ...cup, received: '2' }]);
  });

  test('adds a line for another lot, with nothing announced', () => {
    expect(count({ sku: 'CUP', lot: 'B', received: '1' })).toEqual([
      tea,
      cup,
      { ...cup, lot: 'B', quantity: '0', received: '1', expirationDate: null },
    ]);
  });

  test('skips an entry marked D', () => {
    expect(count({ lineState: 'D' }, { sku: 'CUP', lot: 'A', lineState: 'E', received: '1' })).toEqual([
      tea,
      { ...cup, received: '1' },
    ]);
  });

  test('prefers the line of the lot to one without a lot', () => {
    const lines = [tea, { ...tea, lot: 'A' }];
    const counted = countReceiving({ ...arrived, products: lines }, { products: [entry({ lot: 'A' })] });
    expect(counted.products).toEqual([tea, { ...tea, lot: 'A', received: '5' }]);
    const reversed = countReceiving(
      { ...arrived, products: lines.toReversed() },
      { products: [entry({ lot: 'A' })] },
    );
    expect(reversed.products).toEqual([{ ...tea, lot: 'A', received: '5' }, tea]);
  });

  test('fills the lines in order for entries without a lot, and no more than there are', () => {
    const lines = [tea, { ...tea, lot: 'A' }];
    const enter = (times: number) => () =>
      countReceiving(
        { ...arrived, products: lines },
        { products: Array.from({ length: times }, () => entry({})) },
      );
    expect(enter(2)().products.map(({ received }) => received)).toEqual(['5', '5']);
    expect(problemMessage(enter(3))).toBe('400 products.2: appears twice: enter the sum');
  });

  test('refuses another lot named twice', () => {
    expect(problemMessage(() => count({ sku: 'CUP', lot: 'B' }, { sku: 'CUP', lot: 'B' }))).toBe(
      '400 products.1: appears twice: enter the sum',
    );
  });

  test('takes an uncounted line as fully arrived', () => {
    expect(arrivedUnits({ ...tea, received: '0' })).toBe('0');
    expect(arrivedUnits(tea)).toBe('5');
  });

  test('refuses products that were not announced, or are marked D', () => {
    const left = { ...arrived, products: [{ ...tea, lineState: 'D' as const }, cup] };
    const entries = [entry({}), entry({ sku: 'PAN' })];
    expect(problemMessage(() => countReceiving(left, { products: entries }))).toBe(
      '400 products.0.sku: "TEA" was not announced; products.1.sku: "PAN" was not announced',
    );
  });

  test.each(['arrived', 'received'] as const)('is possible while the receiving is %s', (status) => {
    expect(countReceiving({ ...record, status }, { products: [entry({})] }).products[0]?.received).toBe('5');
  });

  test.each(['awaiting', 'stocked', 'canceled'] as const)(
    'is refused while the receiving is %s',
    (status) => {
      expect(problemMessage(() => countReceiving({ ...record, status }, { products: [] }))).toBe(
        `409 The receiving is ${status}: counts can be entered only while it is arrived or received.`,
      );
    },
  );
});
