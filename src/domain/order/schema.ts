/** The fields of an order (docs/interface.md, O6–O9); the record's forms are derived from the request's schema. */
import * as v from 'valibot';
import { count, money } from '../decimal.ts';
import {
  country,
  currency,
  described,
  email,
  flag,
  identifier,
  integer,
  integerOf,
  oneOf,
  optional,
  strictComponent,
  text,
  webAddress,
} from '../fields.ts';
import { lines, list } from '../list.ts';
import { sscc } from '../sscc.ts';
import { timestamp } from '../timestamp.ts';
import { shippedMarketplaces } from './marketplaces.ts';
import type { OrderStatus } from './status.ts';

export const orderTypes = ['b2c', 'b2b', 'transfer'] as const;
const orderFileTypes = ['invoice', 'shippingLabel', 'shippingAddonLabel', 'other'] as const;
/** Payment types: 0 cash on delivery, 1 card online, 2 bank transfer. */
export const CASH_ON_DELIVERY = 0;

/** One package of one order product, as the warehouse writes it. */
export const packingListSchema = strictComponent('PackingListInput', {
  packageNumber: integer(1, 100_000),
  packageType: optional(text(64)),
  sscc: optional(sscc()),
  trackingNumber: optional(text(128)),
  weight: described(optional(integer(0, 1_000_000_000)), 'Grams.'),
  quantity: count('positive'),
  lot: optional(text(64)),
  expirationDate: optional(timestamp()),
  serialNumbers: v.optional(list(text(128, 1), 10_000), []),
});
export type PackingList = v.InferOutput<typeof packingListSchema>;

const productSchema = strictComponent('OrderProductInput', {
  sku: identifier(),
  quantity: count('positive'),
  unitPrice: optional(money()),
  vatRate: described(optional(count('percent')), 'Percent.'),
  lot: optional(text(64)),
});

const fileSchema = strictComponent('OrderFileInput', {
  type: oneOf(orderFileTypes),
  fileName: text(255, 1),
  url: webAddress(),
});

/**
 * The known marketplaces are checked by a rule (`rules.ts`): an order keeps its own if the warehouse's list
 * changes.
 */
function marketplace(known: readonly string[]) {
  return described(
    optional(v.pipe(text(64, 1), v.metadata({ jsonSchema: { type: 'string', enum: [...known] } }))),
    'One of the marketplaces that the warehouse knows; its own `/openapi.json` lists all of them. Required when disableShippingReorder is true.',
  );
}

/** The fields that an e-shop may write. `status` is read on creation only. */
export const orderEntries = {
  eshopOrderId: described(identifier(), 'Chosen by the e-shop, unique among its orders.'),
  status: described(
    v.optional(oneOf(['preReceived', 'preOrder']), 'preReceived'),
    'Only on creation; later changes are made by the warehouse.',
  ),
  releaseAt: described(
    optional(timestamp()),
    'When a preOrder is released automatically. Only for a preOrder; must be in the future.',
  ),
  requiredExpeditionDate: described(optional(timestamp()), 'Only for b2b.'),
  orderType: described(v.optional(oneOf(orderTypes), 'b2c'), 'b2c by default.'),
  transferCompany: described(optional(text(255)), 'Required for transfer orders.'),

  recipientName: described(optional(text(255)), 'Name for the delivery.'),
  recipientCompanyName: described(optional(text(255)), 'Company for the delivery.'),
  recipientEmail: described(optional(email()), 'E-mail address for the delivery.'),
  recipientPhone: described(optional(text(64)), 'Telephone number for the delivery.'),
  recipientStreet: described(optional(text(255)), 'Street and number for the delivery.'),
  recipientCity: described(optional(text(255)), 'City for the delivery.'),
  recipientPostCode: described(optional(text(32)), 'Postal code for the delivery.'),
  recipientCountry: optional(country()),

  billingName: described(optional(text(255)), 'Name for billing.'),
  billingCompanyName: described(optional(text(255)), 'Company for billing.'),
  billingEmail: described(optional(email()), 'E-mail address for billing.'),
  billingPhone: described(optional(text(64)), 'Telephone number for billing.'),
  billingStreet: described(optional(text(255)), 'Street and number for billing.'),
  billingCity: described(optional(text(255)), 'City for billing.'),
  billingPostCode: described(optional(text(32)), 'Postal code for billing.'),
  billingCountry: optional(country()),

  shipper: described(
    optional(text(64, 1)),
    'From GET /v2/shipper-service-codes, together with shipperService.',
  ),
  shipperService: described(optional(text(64, 1)), 'A service of the shipper.'),
  pickupPoint: described(
    optional(text(128, 1)),
    'The pickup point of the carrier; required if the service delivers to pickup points, and not allowed otherwise.',
  ),

  paid: described(flag(), 'Whether the order is paid.'),
  paymentType: described(
    optional(integerOf([0, 1, 2], 'must be 0 (cash on delivery), 1 (card online) or 2 (bank transfer)')),
    '0 cash on delivery, 1 card online, 2 bank transfer.',
  ),
  cashOnDelivery: described(optional(money()), 'The amount to collect, for payment type 0.'),
  currency: optional(currency()),

  note: described(optional(text(4000)), 'Internal note of the e-shop, not shown to the customer.'),
  branch: described(optional(text(128)), 'The branch of the e-shop to which orders are sent together.'),
  invoiceNumber: described(optional(text(64)), 'Number of the invoice.'),
  invoicePrint: described(flag(), 'Print the order file of type invoice, which is then required.'),
  pickFromQuality: described(
    flag(),
    'Tells the warehouse to pick from quality; units are still reserved from `stock.available`.',
  ),
  trackingNumbers: described(v.optional(list(text(128, 1), 1000), []), 'Tracking numbers of the packages.'),
  sanction: described(
    flag(),
    'A mark for the warehouse: kept and delivered, with no effect here. Only for b2b.',
  ),
  priority: described(
    v.optional(integerOf([0, 1], 'must be 0 (normal) or 1 (high)'), 0),
    '0 normal, 1 high.',
  ),
  disableShippingReorder: described(
    flag(),
    'Standard shipping is not ordered; requires `marketplace` and a file of type shippingAddonLabel.',
  ),
  marketplace: marketplace(shippedMarketplaces),
  orderFiles: described(v.optional(list(fileSchema, 100), []), 'Files that come with the order.'),
  orderProducts: lines(productSchema),
};

export const orderInputSchema = v.strictObject(orderEntries);

/** The fields for the documentation, with the loaded marketplaces. */
export function documentedEntries(marketplaces: readonly string[]): typeof orderEntries {
  return { ...orderEntries, marketplace: marketplace(marketplaces) };
}
export type OrderInput = v.InferOutput<typeof orderInputSchema>;
export type OrderProductInput = v.InferOutput<typeof productSchema>;

/** Ignored in a request, so that a record can be sent back as read. */
export const orderResponseOnly = [
  'createdAt',
  'updatedAt',
  'deliveredAt',
  'canceledAt',
  'statusHistory',
] as const;

/** A line of the record. It always has packing lists; rendering leaves them out unless requested. */
export interface OrderProduct extends OrderProductInput {
  packingLists: PackingList[];
}

/** The whole record in its v2 form: money and counts are decimal strings, timestamps text. */
export interface OrderRecord extends Omit<OrderInput, 'status' | 'orderProducts'> {
  status: OrderStatus;
  orderProducts: OrderProduct[];
  createdAt: string;
  updatedAt: string;
  deliveredAt: string | null;
  canceledAt: string | null;
  statusHistory: { status: OrderStatus; at: string; note: string | null }[];
}
