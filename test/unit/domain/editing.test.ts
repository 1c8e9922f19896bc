/** What the edits of every kind of record have in common. */
import { describe, expect, test } from 'vitest';
import type { Edits } from '../../../src/domain/editing.ts';
import { orderEdits } from '../../../src/domain/order/changes.ts';
import { productEdits } from '../../../src/domain/product/changes.ts';
import { receivingEdits } from '../../../src/domain/receiving/changes.ts';
import { returnEdits } from '../../../src/domain/return/changes.ts';
import { problemMessage } from '../../support/api/problem-message.ts';

const now = new Date('2026-11-20T12:00:00.000Z');
const knownSkus = new Set(['TEA']);
const lines = [{ sku: 'TEA', quantity: 1 }];

/** The edits of a kind, of a record made of this body. */
function kindOf<Rec extends object, Context>(
  { make, patch, replace, skusIn }: Edits<Rec, Context>,
  context: Context,
  [idField, linesField]: readonly [string, string],
  body: object,
) {
  const record = make(body, context);
  return {
    idField,
    linesField,
    body,
    record,
    make: (sent: unknown) => make(sent, context),
    updates: [
      (sent: unknown) => patch(record, sent, context),
      (sent: unknown) => replace(record, sent, context),
    ],
    skusIn,
  };
}
const order = { eshopOrderId: '1', orderProducts: lines };
const receiving = { eshopReceivingId: 'IN-1', supplier: 'Gardens', products: lines };
const written = { now, knownSkus, shipperCatalogue: [], marketplaces: [] };
const withLines = [
  ['an order', kindOf(orderEdits, written, ['eshopOrderId', 'orderProducts'], order)],
  ['a receiving', kindOf(receivingEdits, { knownSkus }, ['eshopReceivingId', 'products'], receiving)],
  [
    'a return',
    kindOf(returnEdits, { now, knownSkus }, ['eshopReturnId', 'returnedOrderProducts'], {
      eshopReturnId: 'R-1',
      returnedOrderProducts: lines,
    }),
  ],
] as const;
const product = kindOf(productEdits, { now }, ['sku', 'none'], { sku: 'TEA', name: 'Green tea' });

describe.each([...withLines, ['a product', product] as const])('%s', (_name, kind) => {
  test.each([['text'], [[]], [null]])('is neither created nor changed by %j', (sent) => {
    expect(problemMessage(() => kind.make(sent))).toMatch(/^400 /);
    for (const update of kind.updates)
      expect(problemMessage(() => update(sent))).toBe('400 The body must be a JSON object.');
  });

  test('is unchanged if its record is sent back', () => {
    for (const update of kind.updates) expect(update(kind.record)).toEqual(kind.record);
  });

  test('keeps its identifier', () => {
    for (const update of kind.updates)
      expect(problemMessage(() => update({ ...kind.body, [kind.idField]: '2' }))).toBe(
        `400 ${kind.idField}: must be the identifier in the path: it cannot be changed`,
      );
  });
});

describe.each(withLines)('the lines of %s', (_name, { make, body, linesField, skusIn }) => {
  test.each([
    ['not a list', 'TEA', 'must be a list of products'],
    ['an empty list', [], 'must have at least one product'],
    ['a text in place of a line', ['TEA'], 'must be an object'],
    ['missing', undefined, 'is required'],
    ['far too many to be checked', Array(10_001).fill({}), 'must have at most 1000 products'],
  ])('are refused: %s', (_what, sent, message) => {
    expect(problemMessage(() => make({ ...body, [linesField]: sent }))).toMatch(
      new RegExp(`^400 ${linesField}(?:\\.0)?: ${message}$`),
    );
  });

  test('give each SKU once', () => {
    const named = [{ sku: 'TEA' }, { sku: 'CUP' }, { sku: 'TEA' }, {}, { sku: 7 }, { sku: '' }, 'POT', null];
    expect(skusIn({ [linesField]: named })).toEqual(['TEA', 'CUP']);
    for (const sent of [null, 'text', [], {}, { [linesField]: 'TEA' }]) expect(skusIn(sent)).toEqual([]);
  });
});
