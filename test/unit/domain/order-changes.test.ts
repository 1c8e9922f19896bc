/** The changes to an order: from the record before to the record after. */
import { describe, expect, test } from 'vitest';
import type { WriteContext } from '../../../src/domain/editing.ts';
import {
  changeableWhileFulfilled,
  moveOrder,
  orderEdits,
  releaseOrder,
} from '../../../src/domain/order/changes.ts';
import type { OrderRecord, PackingList } from '../../../src/domain/order/schema.ts';
import { shippedCatalogue } from '../../../src/domain/shipper-services.ts';
import { problemMessage } from '../../support/api/problem-message.ts';

const { make: newOrder, patch: patchOrder, replace: replaceOrder } = orderEdits;
const created = '2026-11-20T12:00:00.000Z';
const context: WriteContext = {
  now: new Date(created),
  shipperCatalogue: shippedCatalogue,
  marketplaces: [],
  knownSkus: new Set(['TEA', 'CUP']),
};
const body = { eshopOrderId: '1', orderProducts: [{ sku: 'TEA', quantity: '1' }] };
const packed = (packageNumber: number): PackingList => ({
  packageNumber,
  packageType: null,
  sscc: null,
  trackingNumber: null,
  weight: null,
  quantity: '1',
  lot: null,
  expirationDate: null,
  serialNumbers: [],
});
const address = {
  recipientName: 'Zoë',
  recipientCompanyName: 'Čaj',
  recipientEmail: 'zoe@customer.example',
  recipientPhone: '+420',
  recipientStreet: 'Dlouhá 12',
  recipientCity: 'Praha',
  recipientPostCode: '110 00',
  recipientCountry: 'CZ',
};
const bill = {
  billingName: 'Zoë',
  billingCompanyName: 'Čaj',
  billingEmail: 'zoe@customer.example',
  billingPhone: '+420',
  billingStreet: 'Dlouhá 12',
  billingCity: 'Praha',
  billingPostCode: '110 00',
  billingCountry: 'CZ',
};
const noBill = Object.fromEntries(Object.keys(bill).map((name) => [name, null]));

describe('a new order', () => {
  test('fills a minimal body up to a whole record', () => {
    expect(newOrder(body, context)).toEqual({
      eshopOrderId: '1',
      status: 'preReceived',
      releaseAt: null,
      requiredExpeditionDate: null,
      orderType: 'b2c',
      transferCompany: null,
      ...Object.fromEntries(Object.keys(address).map((name) => [name, null])),
      ...noBill,
      shipper: null,
      shipperService: null,
      pickupPoint: null,
      paid: false,
      paymentType: null,
      cashOnDelivery: null,
      currency: null,
      note: null,
      branch: null,
      invoiceNumber: null,
      invoicePrint: false,
      pickFromQuality: false,
      trackingNumbers: [],
      sanction: false,
      priority: 0,
      disableShippingReorder: false,
      marketplace: null,
      orderFiles: [],
      orderProducts: [
        { sku: 'TEA', quantity: '1', unitPrice: null, vatRate: null, lot: null, packingLists: [] },
      ],
      createdAt: created,
      updatedAt: created,
      deliveredAt: null,
      canceledAt: null,
      statusHistory: [{ status: 'preReceived', at: created, note: null }],
    });
  });

  test('ignores fields that a request may not write', () => {
    const record = newOrder(body, context);
    const moved = {
      ...record,
      createdAt: 'long ago',
      updatedAt: 'never',
      deliveredAt: created,
      canceledAt: created,
      statusHistory: [],
      orderProducts: record.orderProducts.map((line) => ({ ...line, packingLists: [packed(1)] })),
    };
    expect(newOrder(moved, context)).toEqual(record);
  });

  test('bills the recipient without billing fields, and separately with any of them', () => {
    expect(newOrder({ ...body, ...address }, context)).toMatchObject(bill);
    expect(newOrder({ ...body, ...address, billingCity: 'Brno' }, context)).toMatchObject({
      ...noBill,
      billingCity: 'Brno',
    });
  });
});

describe('an update', () => {
  const order = newOrder({ ...body, ...address, note: 'first', priority: 1 }, context);

  test('PUT resets omitted fields to their defaults, except identifier and status', () => {
    const replaced = replaceOrder(
      order,
      { orderProducts: [{ sku: 'CUP', quantity: 2 }], status: 'packed' },
      context,
    );
    expect(replaced).toEqual({
      ...newOrder({ eshopOrderId: '1', orderProducts: [{ sku: 'CUP', quantity: '2' }] }, context),
      createdAt: order.createdAt,
    });
  });

  test('PATCH changes only the fields sent, and ignores a status', () => {
    expect(patchOrder(order, { note: 'second', status: 'packed' }, context)).toEqual({
      ...order,
      note: 'second',
    });
    expect(patchOrder(order, {}, context)).toEqual(order);
  });

  test('PATCH: billing to the recipient follows the recipient', () => {
    expect(patchOrder(order, { recipientCity: 'Plzeň' }, context)).toMatchObject({
      recipientCity: 'Plzeň',
      billingCity: 'Plzeň',
      billingName: 'Zoë',
    });
  });

  test('PATCH: billing fields in the request, or a separate bill, do not follow', () => {
    expect(patchOrder(order, { recipientCity: 'Plzeň', billingName: 'Zoë' }, context)).toMatchObject({
      billingCity: 'Praha',
    });
    const elsewhere = patchOrder(order, { billingCity: 'Brno' }, context);
    expect(patchOrder(elsewhere, { recipientCity: 'Plzeň' }, context)).toMatchObject({
      billingCity: 'Brno',
      billingStreet: 'Dlouhá 12',
    });
  });

  test('packing lists stay with lines of the same product and lot, in order', () => {
    const line = (sku: string, lot: string | null, packingLists: PackingList[] = []) => ({
      ...{ sku, quantity: '1', unitPrice: null, vatRate: null, lot },
      packingLists,
    });
    const withLists: OrderRecord = {
      ...order,
      orderProducts: [
        line('TEA', null, [packed(1)]),
        line('TEA', 'A', [packed(2)]),
        line('TEA', null, [packed(3)]),
        line('CUP', null, [packed(4)]),
      ],
    };
    const sent = ['TEA', 'TEA', 'TEA'].map((sku) => ({ sku, quantity: 1 }));
    const { orderProducts } = patchOrder(
      withLists,
      { orderProducts: [...sent, { sku: 'CUP', lot: 'A', quantity: 1 }] },
      context,
    );
    expect(orderProducts.map(({ packingLists }) => packingLists.map((list) => list.packageNumber))).toEqual([
      [1],
      [3],
      [],
      [],
    ]);
  });

  test.each([
    'preOrder',
    'preReceived',
    'suspended',
    'waitingForPayment',
    'incorrect',
    'received',
    'productsNotAvailable',
  ] as const)('every field may change while the order is %s', (status) => {
    expect(patchOrder({ ...order, status }, { recipientCity: 'Plzeň' }, context)).toMatchObject({
      recipientCity: 'Plzeň',
      status,
    });
  });

  test.each([
    'processing',
    'packed',
    'waitingForCarrier',
    'onTheWay',
    'delivered',
    'lost',
    'returningBack',
    'returnedBack',
    'receivedBack',
    'canceled',
  ] as const)('only a few fields may change while the order is %s', (status) => {
    const fulfilling: OrderRecord = { ...order, status };
    const few = { note: 'n', trackingNumbers: ['1'], orderFiles: [], paid: true };
    expect(Object.keys(few)).toEqual(changeableWhileFulfilled);
    expect(patchOrder(fulfilling, few, context)).toMatchObject(few);
    expect(patchOrder(fulfilling, { recipientCity: order.recipientCity }, context)).toEqual(fulfilling);
    expect(
      problemMessage(() =>
        patchOrder(fulfilling, { recipientCity: 'Plzeň', priority: 0, note: 'n' }, context),
      ),
    ).toBe(
      `409 The order is ${status}; only note, trackingNumbers, orderFiles, paid can still be changed, not recipientCity, billingCity, priority.`,
    );
    expect(
      problemMessage(() =>
        replaceOrder(fulfilling, { ...fulfilling, orderProducts: [{ sku: 'TEA', quantity: 2 }] }, context),
      ),
    ).toMatch(/^409 .*not orderProducts\.$/);
  });
});

describe('a move', () => {
  const order: OrderRecord = { ...newOrder(body, context), status: 'onTheWay' };
  const later = new Date('2026-11-21T00:00:00.000Z');

  test('is added to the history with its note, and sets the time of its status', () => {
    expect(moveOrder(order, 'delivered', 'at the door', later)).toEqual({
      ...order,
      status: 'delivered',
      deliveredAt: later.toISOString(),
      statusHistory: [
        ...order.statusHistory,
        { status: 'delivered', at: later.toISOString(), note: 'at the door' },
      ],
    });
    expect(moveOrder({ ...order, status: 'packed' }, 'canceled', null, later)).toMatchObject({
      canceledAt: later.toISOString(),
      deliveredAt: null,
    });
    const known = { deliveredAt: created, canceledAt: created };
    expect(moveOrder({ ...order, ...known }, 'lost', null, later)).toMatchObject(known);
  });

  test('is refused without a transition, with the possible ones', () => {
    expect(problemMessage(() => moveOrder(order, 'canceled', null, later))).toBe(
      '409 The order is onTheWay and cannot become canceled: it can become delivered, lost, returningBack.',
    );
    expect(problemMessage(() => moveOrder({ ...order, status: 'lost' }, 'lost', null, later))).toBe(
      '409 The order is lost and cannot become lost: this status is final.',
    );
  });

  test('by a release is possible only from preOrder', () => {
    expect(releaseOrder({ ...order, status: 'preOrder' }, later)).toMatchObject({
      status: 'preReceived',
      statusHistory: [expect.anything(), { status: 'preReceived', at: later.toISOString(), note: null }],
    });
    expect(problemMessage(() => releaseOrder({ ...order, status: 'suspended' }, later))).toBe(
      '409 The order is suspended: only a preOrder can be released.',
    );
  });
});
