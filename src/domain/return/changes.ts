/**
 * The changes to a return: pure functions from the record before to the record after. Stock and events are handled in
 * the database.
 */
import { announce, enterCounts, lineProblems, writableLines } from '../announced-lines.ts';
import { catalogue } from '../catalogue.ts';
import { editsOf, type WriteContext } from '../editing.ts';
import { conflict } from '../problem.ts';
import { assertMove } from '../status.ts';
import { rulesOf } from '../validation.ts';
import {
  type ReturnInput,
  type ReturnLine,
  type ReturnLinesInput,
  type ReturnRecord,
  returnInputSchema,
  returnLineResponseOnly,
} from './schema.ts';
import { type ReturnStatus, returnTransitions } from './status.ts';

/** The fields that the e-shop may still change once the goods have arrived. */
export const returnChangeableOnArrival: readonly string[] = ['description', 'eshopNote', 'rma'];

const rule = rulesOf<ReturnInput, Pick<WriteContext, 'now' | 'knownSkus'>>();

function freshLine(sent: ReturnInput['returnedOrderProducts'][number]): ReturnLine {
  const { sku, quantity, returnReason, lot } = sent;
  return { sku, quantity, received: null, returnReason, resolution: null, lot, lineState: 'E' };
}

export const returnEdits = editsOf<ReturnRecord, ReturnInput, Pick<WriteContext, 'now' | 'knownSkus'>>({
  entry: catalogue.return,
  lines: {
    field: 'returnedOrderProducts',
    writable: (lines) => writableLines(lines, returnLineResponseOnly),
  },
  schema: returnInputSchema,
  rules: [
    rule(['returnedOrderProducts'], ({ returnedOrderProducts }, { knownSkus }) =>
      lineProblems('returnedOrderProducts', returnedOrderProducts, knownSkus),
    ),
  ],
  changeable: ({ status }) => (status === 'awaiting' ? null : returnChangeableOnArrival),
  apply(input, before, { now }) {
    const lines = announce(before?.returnedOrderProducts ?? [], input.returnedOrderProducts, freshLine);
    if (before !== null) return { ...before, ...input, returnedOrderProducts: lines };
    const at = now.toISOString();
    return {
      ...input,
      returnedOrderProducts: lines,
      note: null,
      status: 'awaiting',
      createdAt: at,
      updatedAt: at,
      confirmedAt: null,
      receivedAt: null,
      canceledAt: null,
    };
  },
});
/**
 * @param note by the warehouse, replaces the previous note; null keeps it
 * @throws Problem 409 if the table has no such transition
 */
export function moveReturn(
  record: ReturnRecord,
  to: ReturnStatus,
  note: string | null,
  now: Date,
): ReturnRecord {
  assertMove<ReturnStatus>(returnTransitions, 'return', record.status, to);
  const at = now.toISOString();
  return {
    ...record,
    note: note ?? record.note,
    status: to,
    confirmedAt: to === 'completed' ? at : record.confirmedAt,
    receivedAt: to === 'arrived' ? at : record.receivedAt,
    canceledAt: to === 'canceled' ? at : record.canceledAt,
  };
}

/**
 * The warehouse enters its counts and resolutions.
 * @throws Problem 400 for a product that was not announced, 409 unless the goods are here and not yet dealt with
 */
export function countReturn(record: ReturnRecord, { returnedOrderProducts }: ReturnLinesInput): ReturnRecord {
  if (record.status !== 'arrived' && record.status !== 'processing') {
    throw conflict(
      `The return is ${record.status}: counts can be entered only while it is arrived or processing.`,
    );
  }
  const furtherLot = (announced: ReturnLine) => announced;
  const entries = returnedOrderProducts
    .filter(({ lineState }) => lineState !== 'D')
    .map(({ sku, lot, received, resolution }) => ({ sku, lot, received, resolution }));
  const lines = enterCounts(record.returnedOrderProducts, entries, 'returnedOrderProducts', furtherLot);
  return { ...record, returnedOrderProducts: lines };
}
