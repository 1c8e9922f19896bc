/** The rules across several fields of an order: the message of each, and where it does not apply. */
import { describe, expect, test } from 'vitest';
import type { WriteContext } from '../../../src/domain/editing.ts';
import { orderEdits } from '../../../src/domain/order/changes.ts';
import type { ShipperCatalogue } from '../../../src/domain/shipper-services.ts';
import { problemMessage } from '../../support/api/problem-message.ts';

const { make: newOrder, patch: patchOrder } = orderEdits;
const service = { countries: ['CZ'], cashOnDelivery: false, pickupPoint: false };
const shipperCatalogue: ShipperCatalogue = [
  {
    shipper: 'PPL',
    name: 'PPL',
    services: [
      { ...service, value: 'PPL_PRIVATE', name: 'home', cashOnDelivery: true },
      { ...service, value: 'PPL_PICKUP', name: 'pickup', pickupPoint: true },
    ],
  },
  { shipper: 'DHL', name: 'DHL', services: [{ ...service, value: 'DHL_EXPRESS', name: 'express' }] },
];
const now = new Date('2026-11-20T12:00:00.000Z');
const context: WriteContext = {
  now,
  shipperCatalogue,
  marketplaces: ['allegro', 'ebay'],
  knownSkus: new Set(['TEA', 'CUP']),
};
const invoice = { type: 'invoice', fileName: 'i.pdf', url: 'https://shop.example/i.pdf' };
const addon = { type: 'shippingAddonLabel', fileName: 'l.pdf', url: 'https://shop.example/l.pdf' };
const order = (fields: object) => ({
  eshopOrderId: '1',
  orderProducts: [{ sku: 'TEA', quantity: 1 }],
  ...fields,
});
const refused = (fields: object) => problemMessage(() => newOrder(order(fields), context));

const pickup = { shipper: 'PPL', shipperService: 'PPL_PICKUP', pickupPoint: '79' };
const home = { shipper: 'PPL', shipperService: 'PPL_PRIVATE' };
const later = '2026-11-20T12:00:00.001Z';

describe('allowed', () => {
  test.each([
    ['a pre-order that is released later', { status: 'preOrder', releaseAt: later }],
    ['a pre-order without a time of release', { status: 'preOrder' }],
    ['an expedition date of a b2b order', { orderType: 'b2b', requiredExpeditionDate: later }],
    ['a sanctioned b2b order', { orderType: 'b2b', sanction: true }],
    ['a transfer order with its company', { orderType: 'transfer', transferCompany: 'Trans' }],
    ['a company of an order that is no transfer', { orderType: 'b2c', transferCompany: 'Trans' }],
    ['a service of its shipper', home],
    ['a pickup point of a service that delivers to one', pickup],
    ['cash on delivery with the amount', { ...home, paymentType: 0, cashOnDelivery: '0.01' }],
    ['cash on delivery that is paid', { ...home, paymentType: 0, paid: true }],
    ['another payment type without any service', { paymentType: 1 }],
    ['a marketplace of the list', { marketplace: 'ebay' }],
    [
      'shipping by the marketplace, with its label',
      { disableShippingReorder: true, marketplace: 'ebay', orderFiles: [invoice, addon] },
    ],
    ['an invoice to print', { invoicePrint: true, orderFiles: [addon, invoice] }],
    ['an invoice that is not printed', { orderFiles: [invoice] }],
  ])('%s', (_what, fields) => {
    expect(refused(fields)).toBe('nothing');
  });
});

describe('refused', () => {
  test.each([
    ['a time of release of no pre-order', { releaseAt: later }, 'releaseAt: allowed only for a preOrder'],
    [
      'a time of release of no pre-order that is over: reported once',
      { releaseAt: '2020-01-01T00:00:00Z' },
      'releaseAt: allowed only for a preOrder',
    ],
    [
      'a release now',
      { status: 'preOrder', releaseAt: now.toISOString() },
      'releaseAt: must be in the future',
    ],
    [
      'an expedition date of a b2c order',
      { requiredExpeditionDate: later },
      'requiredExpeditionDate: allowed only for b2b orders',
    ],
    [
      'a transfer without its company',
      { orderType: 'transfer' },
      'transferCompany: is required for transfer orders',
    ],
    [
      'a transfer with an empty company',
      { orderType: 'transfer', transferCompany: '' },
      'transferCompany: is required for transfer orders',
    ],
    ['a sanctioned b2c order', { sanction: true }, 'sanction: allowed only for b2b orders'],
    [
      'a service without its shipper',
      { shipperService: 'PPL_PRIVATE' },
      'shipper: is required with shipperService',
    ],
    ['a shipper without a service', { shipper: 'PPL' }, 'shipperService: is required with shipper'],
    [
      'an unknown shipper',
      { shipper: 'XYZ', shipperService: 'PPL_PRIVATE' },
      'shipper: "XYZ" is not a shipper listed by GET /v2/shipper-service-codes',
    ],
    [
      'a service of another shipper',
      { shipper: 'DHL', shipperService: 'PPL_PRIVATE' },
      'shipperService: "PPL_PRIVATE" is not a service of DHL, see GET /v2/shipper-service-codes',
    ],
    [
      'a service of another shipper, with a pickup point and cash on delivery: reported once',
      { shipper: 'DHL', shipperService: 'PPL_PICKUP', pickupPoint: '79', paymentType: 0, paid: true },
      'shipperService: "PPL_PICKUP" is not a service of DHL, see GET /v2/shipper-service-codes',
    ],
    [
      'a missing pickup point',
      { ...pickup, pickupPoint: null },
      'pickupPoint: is required by the service PPL_PICKUP',
    ],
    [
      'a pickup point for a service to the door',
      { ...home, pickupPoint: '79' },
      'pickupPoint: is not applicable to the service PPL_PRIVATE',
    ],
    [
      'a pickup point without a service',
      { pickupPoint: '79' },
      'pickupPoint: allowed only with a service that delivers to pickup points',
    ],
    [
      'cash on delivery that the service does not offer',
      { ...pickup, paymentType: 0, cashOnDelivery: '5' },
      'paymentType: 0 (cash on delivery) is not offered by the service PPL_PICKUP',
    ],
    [
      'cash on delivery without a service',
      { paymentType: 0, cashOnDelivery: '5' },
      'paymentType: 0 (cash on delivery) requires a shipperService that offers it',
    ],
    [
      'cash on delivery of nothing',
      { ...home, paymentType: 0, cashOnDelivery: '0' },
      'cashOnDelivery: must be greater than 0 for cash on delivery, unless the order is paid',
    ],
    [
      'cash on delivery without an amount',
      { ...home, paymentType: 0 },
      'cashOnDelivery: must be greater than 0 for cash on delivery, unless the order is paid',
    ],
    ['an unknown marketplace', { marketplace: 'bazaar' }, 'marketplace: must be one of allegro, ebay'],
    [
      'shipping by no marketplace',
      { disableShippingReorder: true, orderFiles: [addon] },
      'marketplace: is required when disableShippingReorder is true',
    ],
    [
      'shipping by the marketplace without its label',
      { disableShippingReorder: true, marketplace: 'ebay', orderFiles: [invoice] },
      'orderFiles: must contain a file of type shippingAddonLabel when disableShippingReorder is true',
    ],
    [
      'no invoice to print',
      { invoicePrint: true, orderFiles: [addon] },
      'orderFiles: must contain a file of type invoice when invoicePrint is true',
    ],
    [
      'products that are not known',
      { orderProducts: ['TEA', 'POT', 'CUP', 'PAN'].map((sku) => ({ sku, quantity: 1 })) },
      'orderProducts.1.sku: "POT" is not a known product; orderProducts.3.sku: "PAN" is not a known product',
    ],
  ])('%s', (_what, fields, message) => {
    expect(refused(fields)).toBe(`400 ${message}`);
  });

  test('several problems are reported at once', () => {
    expect(refused({ sanction: true, marketplace: 'bazaar', shipper: 'PPL' })).toBe(
      '400 sanction: allowed only for b2b orders; shipperService: is required with shipper; marketplace: must be one of allegro, ebay',
    );
  });
});

describe('on an update', () => {
  const before = newOrder(order({ status: 'preOrder', releaseAt: later, ...pickup }), context);
  const afterwards = {
    ...context,
    now: new Date('2026-12-01T00:00:00.000Z'),
    shipperCatalogue: [],
    knownSkus: new Set<string>(),
  };

  test('unchanged values are not refused later', () => {
    expect(problemMessage(() => patchOrder(before, { note: 'later' }, afterwards))).toBe('nothing');
  });

  test('changed values are checked against the present', () => {
    expect(problemMessage(() => patchOrder(before, { pickupPoint: '80', shipper: 'DHL' }, afterwards))).toBe(
      '400 shipper: "DHL" is not a shipper listed by GET /v2/shipper-service-codes',
    );
    expect(problemMessage(() => patchOrder(before, { releaseAt: '2026-11-30T00:00:00Z' }, afterwards))).toBe(
      '400 releaseAt: must be in the future (to release it now, use POST …/release)',
    );
    expect(
      problemMessage(() => patchOrder(before, { orderProducts: [{ sku: 'TEA', quantity: 2 }] }, afterwards)),
    ).toBe('400 orderProducts.0.sku: "TEA" is not a known product');
  });
});
