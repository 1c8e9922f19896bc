/** Packing lists: the units of an order in each package (docs/interface.md, O1). */
import * as v from 'valibot';
import { described, identifier, optional, strictComponent, text } from '../fields.ts';
import { list, MAX_LINES } from '../list.ts';
import { type FieldProblem, invalid } from '../problem.ts';
import { type OrderRecord, type PackingList, packingListSchema } from './schema.ts';

/** The body that replaces all packing lists of an order: products with their lists, as in the record. */
export const packingListsSchema = strictComponent('OrderPackingListsInput', {
  orderProducts: described(
    list(
      v.strictObject({
        sku: identifier(),
        lot: optional(text(64)),
        packingLists: list(packingListSchema, 1000, 'packages'),
      }),
      MAX_LINES,
      'products',
    ),
    'The products with their packages. A product with several lines is listed once per line, in their order. Lines that are not listed have no packages.',
  ),
});
type PackingListsInput = v.InferOutput<typeof packingListsSchema>;

/** @throws Problem 400 if a product is named more often than the order has lines of it */
export function packOrder(record: OrderRecord, input: PackingListsInput): OrderRecord {
  const packed = new Map<number, PackingList[]>();
  const problems: FieldProblem[] = [];
  for (const [index, { sku, lot, packingLists }] of input.orderProducts.entries()) {
    const position = record.orderProducts.findIndex(
      (line, at) => !packed.has(at) && line.sku === sku && (lot === null || line.lot === lot),
    );
    if (position < 0) {
      const message = `"${sku}"${lot === null ? '' : `, lot "${lot}",`} is not on any (other) line of the order`;
      problems.push({ path: `orderProducts.${index}.sku`, message });
    } else packed.set(position, packingLists);
  }
  if (problems.length > 0) throw invalid(problems);
  return {
    ...record,
    orderProducts: record.orderProducts.map((line, at) => ({ ...line, packingLists: packed.get(at) ?? [] })),
  };
}
