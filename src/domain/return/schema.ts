/** The fields of a return: goods that a customer sends back. */
import * as v from 'valibot';
import { countEntries, ignoredEntry, lineEntries } from '../announced-lines.ts';
import { count, type PayloadVersion } from '../decimal.ts';
import { described, identifier, oneOf, optional, strictComponent, text } from '../fields.ts';
import { lines, list, MAX_LINES } from '../list.ts';
import { orderTypes } from '../order/schema.ts';
import { named, recordObject, writtenTimestamp } from '../record-schema.ts';
import { type ReturnStatus, returnStatuses } from './status.ts';

const returnReasons = [
  'exchange',
  'defective',
  'wrongItem',
  'wrongSize',
  'notAsDescribed',
  'unwanted',
  'undeliverable',
  'other',
] as const;

const resolutions = ['returnToInventory', 'qualityHold', 'dispose', 'sendBack'] as const;

const lineSchema = strictComponent('ReturnProductInput', {
  sku: described(identifier(), 'A product of the e-shop.'),
  quantity: described(count('announced'), 'Units announced, greater than 0.'),
  returnReason: described(optional(oneOf(returnReasons)), 'Why the customer is returning it.'),
  lot: described(optional(text(64)), 'The lot, if known.'),
});

/** The fields that an e-shop may write. */
const returnEntries = {
  eshopReturnId: described(identifier(), 'Chosen by the e-shop, unique among its returns.'),
  eshopOrderId: described(
    optional(identifier()),
    'The order that the goods come from; it need not be known to this service.',
  ),
  orderType: described(optional(oneOf(orderTypes)), 'The type of that order.'),
  description: described(optional(text(4000)), 'A description for the warehouse.'),
  shipper: described(optional(text(64, 1)), 'The carrier that brings the goods back.'),
  shipperServiceCode: described(optional(text(64, 1)), "The carrier's service."),
  trackingNumber: described(optional(text(128)), "The carrier's tracking number."),
  eshopNote: described(optional(text(4000)), "The e-shop's own note."),
  returnedOrderProducts: described(
    lines(lineSchema),
    'The announced lines; a line is identified by its `sku` and `lot`.',
  ),
  rma: described(optional(text(64)), 'Number of the return merchandise authorization.'),
};

export const returnInputSchema = v.strictObject(returnEntries);
export type ReturnInput = v.InferOutput<typeof returnInputSchema>;

/** Ignored in an e-shop's requests. */
export const returnResponseOnly = [
  'note',
  'status',
  'createdAt',
  'updatedAt',
  'confirmedAt',
  'receivedAt',
  'canceledAt',
] as const;
export const returnLineResponseOnly = ['received', 'resolution', 'lineState'] as const;

export type ReturnLine = v.InferOutput<typeof lineRecordSchema>;

/** The whole record in its v2 form. */
export interface ReturnRecord extends Omit<ReturnInput, 'returnedOrderProducts'> {
  returnedOrderProducts: ReturnLine[];
  /** By the warehouse. */
  note: string | null;
  status: ReturnStatus;
  createdAt: string;
  updatedAt: string;
  /** When it was completed. */
  confirmedAt: string | null;
  /** When it arrived. */
  receivedAt: string | null;
  canceledAt: string | null;
}

const { sku, returnReason, lot } = lineSchema.entries;
const lineRecordSchema = strictComponent('ReturnProduct', {
  sku,
  quantity: lineEntries.quantity,
  received: lineEntries.received,
  returnReason,
  resolution: described(
    optional(oneOf(resolutions)),
    'What happens to the units; returnToInventory and null add them to the stock again.',
  ),
  lot,
  lineState: lineEntries.lineState,
});

export function returnRecordSchema(version: PayloadVersion) {
  const { rma, returnedOrderProducts: _, ...first } = returnEntries;
  const entries = { ...first, returnedOrderProducts: v.array(lineRecordSchema), rma };
  const when = (description: string) => described(v.nullable(writtenTimestamp()), description);
  const record = recordObject(entries, version, {
    note: described(v.nullable(v.string()), "The warehouse's note."),
    status: oneOf(returnStatuses),
    createdAt: writtenTimestamp(),
    updatedAt: writtenTimestamp(),
    confirmedAt: when('When the return was completed.'),
    receivedAt: when('When the goods arrived.'),
    canceledAt: when('When the return was canceled.'),
  });
  return named(record, 'Return', version);
}

/** The warehouse's entries after inspecting the goods. */
export const returnLinesSchema = strictComponent('ReturnLinesInput', {
  returnedOrderProducts: list(
    v.strictObject({
      ...countEntries,
      resolution: described(optional(oneOf(resolutions)), 'What happens to the units.'),
      returnReason: ignoredEntry,
    }),
    MAX_LINES,
    'products',
  ),
});
export type ReturnLinesInput = v.InferOutput<typeof returnLinesSchema>;

export const sampleReturn: ReturnRecord = {
  eshopReturnId: '2026-R-17',
  eshopOrderId: '2026-10001',
  orderType: 'b2c',
  description: null,
  shipper: 'PPL',
  shipperServiceCode: 'PPL_PRIVATE',
  trackingNumber: '40950000977',
  eshopNote: 'the customer wants another flavor',
  returnedOrderProducts: [
    {
      sku: 'TEA-GREEN-100',
      quantity: '2',
      received: '2',
      returnReason: 'exchange',
      resolution: 'returnToInventory',
      lot: 'L2026-07',
      lineState: 'E',
    },
  ],
  rma: 'RMA-2026-5',
  note: 'unopened',
  status: 'processing',
  createdAt: '2026-11-18T08:15:00.000Z',
  updatedAt: '2026-11-20T10:42:07.310Z',
  confirmedAt: null,
  receivedAt: '2026-11-20T09:30:00.000Z',
  canceledAt: null,
};

/** The fields of the sample that differ in a return that was just announced. */
export const createdReturn = {
  status: 'awaiting',
  note: null,
  returnedOrderProducts: sampleReturn.returnedOrderProducts.map((line) => ({
    ...line,
    received: null,
    resolution: null,
  })),
  updatedAt: sampleReturn.createdAt,
  receivedAt: null,
} satisfies Partial<ReturnRecord>;
