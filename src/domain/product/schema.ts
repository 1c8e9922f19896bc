/** The fields of a product and its record. */
import * as v from 'valibot';
import { money, type PayloadVersion, writtenDecimal } from '../decimal.ts';
import { country, currency, described, flag, identifier, integer, oneOf, optional, text } from '../fields.ts';
import { named, recordObject, writtenTimestamp } from '../record-schema.ts';

const GRAMS = 'Grams.';
const MILLIMETRES = 'Millimetres.';
/** The maximum of a measure: well within the database's integer. */
const MAX_MEASURE = 1_000_000_000;

/** The fields that an e-shop may write. Only `sku` and `name` are required. */
const productEntries = {
  sku: identifier(),
  name: text(255, 1),
  description: optional(text(10_000)),
  ean: optional(text(64)),
  upc: optional(text(64)),
  price: optional(money()),
  currency: optional(currency()),
  weight: described(optional(integer(0, MAX_MEASURE)), GRAMS),
  width: described(optional(integer(0, MAX_MEASURE)), MILLIMETRES),
  height: described(optional(integer(0, MAX_MEASURE)), MILLIMETRES),
  depth: described(optional(integer(0, MAX_MEASURE)), MILLIMETRES),
  originCountry: optional(country()),
  hsCode: optional(text(32)),
  batteryType: optional(oneOf(['no', 'device', 'package'])),
  expMethod: optional(oneOf(['FIFO', 'FEFO'])),
  productType: v.optional(
    oneOf(['finalProduct', 'semiProduct', 'packagingMaterial', 'promoMaterial', 'virtual']),
    'finalProduct',
  ),
  scanSerialNumber: flag(),
  trackLot: flag(),
  trackExpiration: flag(),
  fragile: flag(),
  ageCheck: flag(),
  active: flag(true),
  note: optional(text(4000)),
};

export const productInputSchema = v.strictObject(productEntries);
export type ProductInput = v.InferOutput<typeof productInputSchema>;

/** Ignored in a request. */
export const productResponseOnly = ['stock', 'createdAt', 'updatedAt'] as const;

/** Units of a product, as decimal strings (see `stock/arithmetic.ts` for how movements change them). */
export type Stock = Record<'available' | 'reserved' | 'onHold' | 'awaiting', string>;

/** The whole record in its v2 form. */
export interface ProductRecord extends ProductInput {
  stock: Stock;
  createdAt: string;
  updatedAt: string;
}

export function productRecordSchema(version: PayloadVersion) {
  const units = (description: string) => described(writtenDecimal('count', version), description);
  const record = recordObject(productEntries, version, {
    stock: described(
      named(
        v.strictObject({
          available: units(
            'Units that may still be reserved: neither reserved nor on hold. Never below zero.',
          ),
          reserved: units('Units that orders have reserved and that have not left yet.'),
          onHold: units('Units on quality hold: the sum of the holds less the sum of the releases.'),
          awaiting: units('Units announced by open receivings; not in the warehouse yet.'),
        }),
        'Stock',
        version,
      ),
      '`available + reserved + onHold` is what is in the warehouse: the sum of the counts of all stock movements except holds and releases, which move units between `available` and `onHold`. A change to stock alone fires an UPDATE_PRODUCT only for webhooks with `parameters.onStockChange`.',
    ),
    createdAt: writtenTimestamp(),
    updatedAt: writtenTimestamp(),
  });
  return named(record, 'Product', version);
}

export const sampleProduct: ProductRecord = {
  ...v.parse(productInputSchema, {
    sku: 'TEA-GREEN-100',
    name: 'Green tea, 100 g',
    ean: '8590000000013',
    price: '349.90',
    currency: 'CZK',
    weight: 120,
    width: 80,
    height: 150,
    depth: 50,
    originCountry: 'JP',
    hsCode: '090210',
    batteryType: 'no',
    expMethod: 'FEFO',
    trackLot: true,
    trackExpiration: true,
  }),
  stock: { available: '120', reserved: '3', onHold: '0', awaiting: '48' },
  createdAt: '2026-11-01T09:00:00.000Z',
  updatedAt: '2026-11-20T08:16:30.120Z',
};
