/** The fields of a receiving: exactly those of the interface, in its order (docs/interface.md, R1). */
import * as v from 'valibot';
import { countEntries, lineEntries } from '../announced-lines.ts';
import { count, type PayloadVersion } from '../decimal.ts';
import { described, flag, identifier, oneOf, optional, strictComponent, text } from '../fields.ts';
import { lines, list, MAX_LINES } from '../list.ts';
import { named, recordObject } from '../record-schema.ts';
import { sscc } from '../sscc.ts';
import { timestamp } from '../timestamp.ts';
import { type ReceivingStatus, receivingStatuses } from './status.ts';

const deliveryTypes = ['courier', 'transportCompany', 'truckingCompany', 'container'] as const;
const handlingUnits = ['pallet', 'carton', 'box_loose', 'piece', 'container'] as const;

const packagingSchema = strictComponent('PackagingInput', {
  type: described(text(64, 1), 'Such as EUR pallet or carton.'),
  quantity: described(count('positive'), 'Number of handling units of this type.'),
  sscc: optional(sscc()),
});

const lineSchema = strictComponent('ReceivingProductInput', {
  sku: described(identifier(), 'A product of the e-shop.'),
  quantity: described(count('announced'), 'Units announced, greater than 0.'),
  lot: described(optional(text(64)), 'A product may come in several lots, one line each.'),
  expirationDate: described(optional(timestamp()), 'When the units expire.'),
});

/** The fields that an e-shop may write. */
const receivingEntries = {
  eshopReceivingId: described(identifier(), 'Chosen by the e-shop, unique among its receivings.'),
  carrierInfo: described(optional(text(1000)), 'The carrier that brings the goods.'),
  deliveryNoteNumber: described(optional(text(128)), 'Number of the delivery note.'),
  deliveryType: described(optional(oneOf(deliveryTypes)), 'How the goods are transported.'),
  description: described(optional(text(4000)), 'A description for the warehouse.'),
  driverCompany: described(optional(text(255)), "The driver's company."),
  driverDispatcherContact: described(optional(text(255)), "Contact of the driver's dispatcher."),
  driverName: described(optional(text(255)), "The driver's name."),
  driverPhone: described(optional(text(64)), "The driver's telephone number."),
  driverTrailerLicensePlate: described(optional(text(64)), 'License plate of the trailer.'),
  duty: described(flag(), 'Whether duty is payable.'),
  estimatedDelivery: described(optional(timestamp()), 'When the goods are expected.'),
  handlingUnits: described(optional(oneOf(handlingUnits)), 'The kind of unit in which the goods arrive.'),
  packagings: described(v.optional(list(packagingSchema, 1000), []), 'How the goods are packed.'),
  products: described(lines(lineSchema), 'The announced lines; a line is identified by its `sku` and `lot`.'),
  supplier: described(text(255, 1), 'Who sends the goods.'),
  trackingNumber: described(optional(text(128)), "The carrier's tracking number."),
  urgent: described(
    optional(v.boolean('must be true or false')),
    'Whether to stock the goods with priority.',
  ),
};

export const receivingInputSchema = v.strictObject(receivingEntries);
export type ReceivingInput = v.InferOutput<typeof receivingInputSchema>;

/** Ignored in a request. */
export const receivingResponseOnly = ['status', 'unitsAmount'] as const;
export const receivingLineResponseOnly = ['received', 'lineState'] as const;

export type ReceivingLine = v.InferOutput<typeof lineRecordSchema>;

/** The whole record in its v2 form. */
export interface ReceivingRecord extends Omit<ReceivingInput, 'products'> {
  products: ReceivingLine[];
  status: ReceivingStatus;
  unitsAmount: string;
}

const { sku, lot, expirationDate } = lineSchema.entries;
const lineRecordSchema = strictComponent('ReceivingProduct', {
  sku,
  quantity: lineEntries.quantity,
  lot,
  received: lineEntries.received,
  expirationDate,
  lineState: lineEntries.lineState,
});

export function receivingRecordSchema(version: PayloadVersion) {
  const { products: _, supplier, trackingNumber, urgent, ...first } = receivingEntries;
  const entries = {
    ...first,
    products: v.array(lineRecordSchema),
    status: oneOf(receivingStatuses),
    supplier,
    trackingNumber,
    unitsAmount: described(count(), 'The sum of the enabled lines.'),
    urgent,
  };
  return named(recordObject(entries, version), 'Receiving', version);
}

/** The warehouse's count. */
export const receivingLinesSchema = strictComponent('ReceivingLinesInput', {
  products: list(
    v.strictObject({
      ...countEntries,
      expirationDate: described(optional(timestamp()), 'If left out, as announced.'),
    }),
    MAX_LINES,
    'products',
  ),
});
export type ReceivingLinesInput = v.InferOutput<typeof receivingLinesSchema>;

export const sampleReceiving: ReceivingRecord = {
  eshopReceivingId: '2026-IN-42',
  carrierInfo: 'Trans s.r.o.',
  deliveryNoteNumber: 'DN-2026-118',
  deliveryType: 'truckingCompany',
  description: null,
  driverCompany: 'Trans s.r.o.',
  driverDispatcherContact: '+420600000001',
  driverName: 'Jan Novák',
  driverPhone: '+420600000002',
  driverTrailerLicensePlate: '1AB 2345',
  duty: false,
  estimatedDelivery: '2026-11-20T07:00:00.000Z',
  handlingUnits: 'pallet',
  packagings: [{ type: 'EUR pallet', quantity: '2', sscc: '185912345678901236' }],
  products: [
    {
      sku: 'TEA-GREEN-100',
      quantity: '48',
      lot: 'L2026-07',
      received: '47.5',
      expirationDate: '2027-07-31T00:00:00.000Z',
      lineState: 'E',
    },
  ],
  status: 'received',
  supplier: 'Tea Gardens Ltd',
  trackingNumber: null,
  unitsAmount: '48',
  urgent: null,
};

/** The fields of the sample that differ in a receiving that was just announced. */
export const createdReceiving = {
  status: 'awaiting',
  products: sampleReceiving.products.map((line) => ({ ...line, received: null })),
} satisfies Partial<ReceivingRecord>;
