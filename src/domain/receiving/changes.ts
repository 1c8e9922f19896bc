/**
 * What can be done to a receiving: pure functions from the record before to the record after. What they cost beside
 * its own row (stock, events) is the database's side.
 * @module
 */
import {
  announce,
  enterCounts,
  lineProblems,
  skusOfLines,
  unitsOf,
  writableLines,
} from '../announced-lines.ts';
import { conflict } from '../problem.ts';
import { assertChangeable, assertMove } from '../status.ts';
import { fieldsOf, isObject, problemIf, rulesOf, validate, without } from '../validation.ts';
import {
  type ReceivingInput,
  type ReceivingLine,
  type ReceivingLinesInput,
  type ReceivingRecord,
  receivingInputSchema,
  receivingLineResponseOnly,
  receivingResponseOnly,
} from './schema.ts';
import { type ReceivingStatus, receivingTransitions } from './status.ts';

/** What the rules know beside the body. */
export interface ReceivingContext {
  /** Of the SKUs in the body, those that are products of the e-shop. */
  readonly knownSkus: ReadonlySet<string>;
}

/** What the e-shop may still change once the goods have arrived. */
export const changeableOnArrival: readonly string[] = [
  'carrierInfo',
  'deliveryNoteNumber',
  'description',
  'duty',
  'trackingNumber',
  'urgent',
];

const rule = rulesOf<ReceivingInput, ReceivingContext>();
const receivingRules = [
  rule(['eshopReceivingId'], (_receiving, _context, before) =>
    problemIf(before !== null, 'eshopReceivingId', 'must be the one in the path: it cannot be changed'),
  ),
  rule(['products'], ({ products }, { knownSkus }) => lineProblems('products', products, knownSkus)),
];

/** The body without what a record has and a request may carry but not write. */
function writable(body: unknown): unknown {
  const sent = without(body, receivingResponseOnly);
  if (!isObject(sent) || !('products' in sent)) return sent;
  return { ...sent, products: writableLines(sent.products, receivingLineResponseOnly) };
}

/** The SKUs a body speaks of, to be looked up before its rules are asked. Tolerates any body. */
export function skusInReceiving(body: unknown): string[] {
  return isObject(body) ? skusOfLines(body.products) : [];
}

/** The record, its fields in the order of the interface. */
export function receivingOf(
  input: Omit<ReceivingInput, 'products'>,
  products: ReceivingLine[],
  status: ReceivingStatus,
): ReceivingRecord {
  const { supplier, trackingNumber, urgent, ...fields } = input;
  return { ...fields, products, status, supplier, trackingNumber, unitsAmount: unitsOf(products), urgent };
}

function freshLine({
  sku,
  quantity,
  lot,
  expirationDate,
}: ReceivingInput['products'][number]): ReceivingLine {
  return { sku, quantity, lot, received: null, expirationDate, lineState: 'E' };
}

/**
 * A new receiving, awaited.
 * @param body the request's body as it came
 * @throws Problem 400 naming everything that is wrong
 */
export function newReceiving(body: unknown, context: ReceivingContext): ReceivingRecord {
  const input = validate(receivingInputSchema, receivingRules, writable(body), { before: null, context });
  return receivingOf(input, announce([], input.products, freshLine), 'awaiting');
}

/** The record as a request could have sent it. */
function inputOf({ status, unitsAmount, ...record }: ReceivingRecord) {
  return { ...record, products: writableLines(record.products, receivingLineResponseOnly) };
}

function updated(record: ReceivingRecord, body: unknown, context: ReceivingContext): ReceivingRecord {
  const before = inputOf(record);
  const input = validate(receivingInputSchema, receivingRules, body, { before, context });
  if (record.status !== 'awaiting') {
    assertChangeable('receiving', record.status, changeableOnArrival, before, input);
  }
  const { products, ...fields } = input;
  return receivingOf(fields, announce(record.products, products, freshLine), record.status);
}

/**
 * PUT: every field as sent, what is left out becomes null or its default.
 * @throws Problem 400, or 409 when the goods have arrived
 */
export function replaceReceiving(
  record: ReceivingRecord,
  body: unknown,
  context: ReceivingContext,
): ReceivingRecord {
  const { eshopReceivingId } = record;
  return updated(record, { eshopReceivingId, ...fieldsOf(writable(body)) }, context);
}

/**
 * PATCH: only the fields sent are changed, lists as a whole.
 * @throws Problem 400, or 409 when the goods have arrived
 */
export function patchReceiving(
  record: ReceivingRecord,
  body: unknown,
  context: ReceivingContext,
): ReceivingRecord {
  return updated(record, { ...inputOf(record), ...fieldsOf(writable(body)) }, context);
}

/**
 * Moves the receiving to another status.
 * @throws Problem 409 when the table has no such way
 */
export function moveReceiving(record: ReceivingRecord, to: ReceivingStatus): ReceivingRecord {
  assertMove<ReceivingStatus>(receivingTransitions, 'receiving', record.status, to);
  return { ...record, status: to };
}

/**
 * The warehouse enters what it counted.
 * @throws Problem 400 for a product that was not announced, 409 unless the goods are there and not stocked
 */
export function countReceiving(record: ReceivingRecord, { products }: ReceivingLinesInput): ReceivingRecord {
  if (record.status !== 'arrived' && record.status !== 'received') {
    throw conflict(`The receiving is ${record.status}: it is counted while it is arrived or received.`);
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
