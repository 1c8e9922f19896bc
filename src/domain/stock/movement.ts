/** The fields of a stock movement and its record. */
import type * as v from 'valibot';
import { compareDecimals, count, type PayloadVersion, writtenDecimal } from '../decimal.ts';
import { type StockMovementType, stockMovementTypes } from '../event-types.ts';
import { described, identifier, oneOf, optional, recordNumber, strictComponent, text } from '../fields.ts';
import { named, recordObject, writtenTimestamp } from '../record-schema.ts';
import { timestamp } from '../timestamp.ts';
import { omitFields, rulesOf, validate } from '../validation.ts';
import { isHoldOrRelease } from './arithmetic.ts';

/** The fields that the warehouse may write. */
const stockMovementEntries = {
  type: described(oneOf(stockMovementTypes), 'What moved the units; determines which event is fired.'),
  sku: described(identifier(), 'A product of the e-shop.'),
  count: described(
    count('notZero'),
    'Units, not 0. Positive for units that come, negative for units that go; always positive for quality_hold and quality_release.',
  ),
  lot: described(optional(text(64)), 'The lot of the units.'),
  expirationDate: described(optional(timestamp()), 'When the units expire.'),
  reference: described(
    optional(text(64, 1)),
    "The order's, return's or receiving's identifier, if the type refers to one.",
  ),
  note: described(optional(text(4000)), "The warehouse's note."),
};

export const stockMovementInputSchema = strictComponent('StockMovementInput', stockMovementEntries);
/** A movement to make; its count is a canonical decimal string. */
export type NewMovement = v.InferOutput<typeof stockMovementInputSchema>;

/** Ignored in a request. */
export const stockMovementResponseOnly = ['id', 'balance', 'createdAt'] as const;

/** The whole record in its v2 form. */
export interface StockMovementRecord extends NewMovement {
  id: number;
  balance: string;
  createdAt: string;
}

export function stockMovementRecordSchema(version: PayloadVersion) {
  const id = described(
    recordNumber(),
    'Assigned by the service; of two movements of a product, the later one has the higher id.',
  );
  const record = recordObject({ id, ...stockMovementEntries }, version, {
    balance: described(
      writtenDecimal('count', version),
      "The product's available units after the movement. Units that an order has reserved are no longer available, so the movement that takes them out of the stock does not change the balance.",
    ),
    createdAt: writtenTimestamp(),
  });
  return named(record, 'StockMovement', version);
}

const rule = rulesOf<NewMovement, null>();
const movementRules = [
  rule(['type', 'count'], ({ type, count }) =>
    isHoldOrRelease(type) && compareDecimals(count, '0') < 0 ? `must be greater than 0 for ${type}` : null,
  ),
];

/** @throws Problem 400 naming every problem */
export function newMovement(body: unknown): NewMovement {
  const sent = omitFields(body, stockMovementResponseOnly);
  return validate(stockMovementInputSchema, sent, { rules: movementRules, before: null, context: null });
}

/** The automatic movement for the units of a line. */
export function movementOfLine(
  type: StockMovementType,
  line: { readonly sku: string; readonly lot: string | null; readonly expirationDate?: string | null },
  count: string,
  reference: string,
): NewMovement {
  const { sku, lot, expirationDate = null } = line;
  return { type, sku, count, lot, expirationDate, reference, note: null };
}

export const sampleStockMovement: StockMovementRecord = {
  id: 4711,
  type: 'stock_correction',
  sku: 'TEA-GREEN-100',
  count: '-2',
  lot: 'L2026-07',
  expirationDate: '2027-07-31T00:00:00.000Z',
  reference: null,
  note: 'damaged in the aisle',
  balance: '118',
  createdAt: '2026-11-20T10:42:07.310Z',
};

export function sampleMovementOf(type: StockMovementType): StockMovementRecord {
  const references: Partial<Record<StockMovementType, string>> = {
    order: '2026-10001',
    return: '2026-R-17',
    receiving: '2026-IN-42',
  };
  const goes = type === 'order' || type === 'stock_correction';
  return {
    ...sampleStockMovement,
    type,
    count: goes ? '-2' : '2',
    reference: references[type] ?? null,
    note: type === 'stock_correction' ? sampleStockMovement.note : null,
  };
}
