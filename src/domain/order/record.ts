import * as v from 'valibot';
import type { PayloadVersion } from '../decimal.ts';
import { oneOf, strictComponent } from '../fields.ts';
import { named, recordObject, versionSchema, writtenTimestamp } from '../record-schema.ts';
import { withBilling } from './billing.ts';
import {
  CASH_ON_DELIVERY,
  type OrderRecord,
  orderEntries,
  orderInputSchema,
  packingListSchema,
} from './schema.ts';
import { orderStatuses } from './status.ts';

/** The schema of an order in a payload of this version. `packingLists` are there if requested. */
export function orderRecordSchema(version: PayloadVersion, entries = orderEntries) {
  const status = oneOf(orderStatuses);
  const record = recordObject(entries, version, {
    status,
    orderProducts: v.array(
      named(
        recordObject(orderEntries.orderProducts.item.entries, version, {
          packingLists: v.optional(v.array(versionSchema(packingListSchema, version))),
        }),
        'OrderProduct',
        version,
      ),
    ),
    createdAt: writtenTimestamp(),
    updatedAt: writtenTimestamp(),
    deliveredAt: v.nullable(writtenTimestamp()),
    canceledAt: v.nullable(writtenTimestamp()),
    statusHistory: v.array(
      strictComponent('OrderStatusChange', { status, at: writtenTimestamp(), note: v.nullable(v.string()) }),
    ),
  });
  return named(record, 'Order', version);
}

const { orderProducts, ...fields } = withBilling(
  v.parse(orderInputSchema, {
    eshopOrderId: '2026-10001',
    recipientName: 'Zoë Nováková',
    recipientEmail: 'zoe@customer.example',
    recipientPhone: '+420600000000',
    recipientStreet: 'Dlouhá 12',
    recipientCity: 'Praha',
    recipientPostCode: '110 00',
    recipientCountry: 'CZ',
    shipper: 'PPL',
    shipperService: 'PPL_PRIVATE',
    paymentType: CASH_ON_DELIVERY,
    cashOnDelivery: '1249.90',
    currency: 'CZK',
    invoiceNumber: '20260311',
    invoicePrint: true,
    trackingNumbers: ['40950000123'],
    orderFiles: [
      {
        type: 'invoice',
        fileName: 'invoice-20260311.pdf',
        url: 'https://shop.example/invoices/20260311.pdf',
      },
    ],
    orderProducts: [{ sku: 'TEA-GREEN-100', quantity: '3', unitPrice: '349.90', vatRate: '12' }],
  }),
);

/** A realistic order, packed: the example in the documentation and in test deliveries. */
export const sampleOrder: OrderRecord = {
  ...fields,
  status: 'packed',
  orderProducts: orderProducts.map((line) => ({
    ...line,
    packingLists: [
      {
        packageNumber: 1,
        packageType: 'carton',
        sscc: '185912345678901236',
        trackingNumber: '40950000123',
        weight: 850,
        quantity: '3',
        lot: 'L2026-07',
        expirationDate: '2027-07-31T00:00:00.000Z',
        serialNumbers: [],
      },
    ],
  })),
  createdAt: '2026-11-20T08:15:00.000Z',
  updatedAt: '2026-11-20T10:42:07.310Z',
  deliveredAt: null,
  canceledAt: null,
  statusHistory: [
    { status: 'preReceived', at: '2026-11-20T08:15:00.000Z', note: null },
    { status: 'received', at: '2026-11-20T08:16:30.120Z', note: null },
    { status: 'processing', at: '2026-11-20T10:01:00.000Z', note: null },
    { status: 'packed', at: '2026-11-20T10:42:07.310Z', note: null },
  ],
};

/** The fields of the sample that differ in an order that was just created. */
export const createdOrder = {
  status: 'preReceived',
  trackingNumbers: [],
  orderProducts: sampleOrder.orderProducts.map((line) => ({ ...line, packingLists: [] })),
  updatedAt: sampleOrder.createdAt,
  statusHistory: sampleOrder.statusHistory.slice(0, 1),
} satisfies Partial<OrderRecord>;
