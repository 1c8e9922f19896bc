/**
 * The changes to a receiving: pure functions from the record before to the record after. Stock and events are handled
 * in the database.
 */
import { announce, enterCounts, lineProblems, unitsOf, writableLines } from '../announced-lines.ts';
import { catalogue } from '../catalogue.ts';
import { editsOf, type WriteContext } from '../editing.ts';
import { conflict } from '../problem.ts';
import { assertMove } from '../status.ts';
import { rulesOf } from '../validation.ts';
import {
  type ReceivingInput,
  type ReceivingLine,
  type ReceivingLinesInput,
  type ReceivingRecord,
  receivingInputSchema,
  receivingLineResponseOnly,
} from './schema.ts';
import { type ReceivingStatus, receivingTransitions } from './status.ts';

/** The fields that the e-shop may still change once the goods have arrived. */
export const changeableOnArrival: readonly string[] = [
  'carrierInfo',
  'deliveryNoteNumber',
  'description',
  'duty',
  'trackingNumber',
  'urgent',
];

const rule = rulesOf<ReceivingInput, Pick<WriteContext, 'knownSkus'>>();

function freshLine(sent: ReceivingInput['products'][number]): ReceivingLine {
  const { sku, quantity, lot, expirationDate } = sent;
  return { sku, quantity, lot, received: null, expirationDate, lineState: 'E' };
}

export const receivingEdits = editsOf<ReceivingRecord, ReceivingInput, Pick<WriteContext, 'knownSkus'>>({
  entry: catalogue.receiving,
  lines: {
    field: 'products',
    writable: (lines) => writableLines(lines, receivingLineResponseOnly),
  },
  schema: receivingInputSchema,
  rules: [rule(['products'], ({ products }, { knownSkus }) => lineProblems('products', products, knownSkus))],
  changeable: ({ status }) => (status === 'awaiting' ? null : changeableOnArrival),
  apply(input, before) {
    const { supplier, trackingNumber, urgent, ...fields } = input;
    const products = announce(before?.products ?? [], input.products, freshLine);
    const status = before?.status ?? 'awaiting';
    // In the order of the interface.
    return { ...fields, products, status, supplier, trackingNumber, unitsAmount: unitsOf(products), urgent };
  },
});
/** @throws Problem 409 if the table has no such transition */
export function moveReceiving(record: ReceivingRecord, to: ReceivingStatus): ReceivingRecord {
  assertMove<ReceivingStatus>(receivingTransitions, 'receiving', record.status, to);
  return { ...record, status: to };
}

/**
 * The warehouse enters its counts.
 * @throws Problem 400 for a product that was not announced, 409 unless the goods are here and not stocked
 */
export function countReceiving(record: ReceivingRecord, { products }: ReceivingLinesInput): ReceivingRecord {
  if (record.status !== 'arrived' && record.status !== 'received') {
    throw conflict(
      `The receiving is ${record.status}: counts can be entered only while it is arrived or received.`,
    );
  }
  const furtherLot = (announced: ReceivingLine) => ({ ...announced, expirationDate: null });
  const entries = products
    .filter(({ lineState }) => lineState !== 'D')
    .map(({ sku, lot, received, expirationDate }) => ({
      ...{ sku, lot, received },
      ...(expirationDate === null ? {} : { expirationDate }),
    }));
  return { ...record, products: enterCounts(record.products, entries, 'products', furtherLot) };
}
