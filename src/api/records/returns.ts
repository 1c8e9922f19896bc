/**
 * Returns: `/returns`, key `eshopReturnId`, and what the warehouse does to them.
 * @module
 */
import * as v from 'valibot';
import { returns } from '../../db/records/returns.ts';
import { oneOf, optional, said, text } from '../../domain/fields.ts';
import {
  countReturn,
  moveReturn,
  returnChangeableOnArrival,
  returnEdits,
  skusInReturn,
} from '../../domain/return/changes.ts';
import {
  type ReturnRecord,
  returnInputSchema,
  returnLinesSchema,
  returnRecordSchema,
} from '../../domain/return/schema.ts';
import { returnStatuses, returnTransitions } from '../../domain/return/status.ts';
import { waysOf } from '../describe.ts';
import { operation } from './operation.ts';
import { timeFilter } from './reads.ts';
import type { Resource } from './resource.ts';
import { lateOnArrival } from './words.ts';

/** Returns. */
export const returnResource: Resource<ReturnRecord> = {
  family: returns,
  tag: 'Returns',
  listed: '.',
  filter: { status: v.optional(oneOf(returnStatuses)), ...timeFilter },
  creates: 'Announce',
  late: lateOnArrival(returnChangeableOnArrival),
  tooLate: 'it has arrived: too late for this change.',
  rules: `
- \`eshopReturnId\` and \`returnedOrderProducts\` are required.
- A line is known by its \`sku\` and \`lot\`: a product stands once per lot. Every \`sku\` is a product of the e-shop, every \`quantity\` greater than 0.
- A line that an update of \`returnedOrderProducts\` leaves out stays, with \`lineState\` D; sent again, it is E again. A line sent with \`lineState\` D counts as left out, so that a record read can be put back. \`received\` and \`resolution\` are the warehouse's and ignored.`,
  inputSchema: returnInputSchema,
  recordSchema: returnRecordSchema,
  skusIn: skusInReturn,
  ...returnEdits,
  actions: [
    {
      name: 'cancel',
      summary: 'Cancel a return',
      description: 'Possible while it is awaited. Fires UPDATE_RETURN_STATUS.',
      conflict: 'it can no longer be canceled.',
      message: 'Return canceled.',
      change: (record, now) => moveReturn(record, 'canceled', null, now),
    },
  ],
  operations: [
    operation({
      name: 'status',
      summary: 'Change the status of a return',
      description: `Fires UPDATE_RETURN_STATUS. Any way that is not in this table answers 409, staying included:\n\n${waysOf(returnTransitions)}\n\n\`arrived\` sets \`receivedAt\`, \`completed\` sets \`confirmedAt\` and brings units back into the stock: one \`return\` movement per enabled line whose \`resolution\` is returnToInventory or null, of the units counted, or of those announced where none were.`,
      conflict: 'the table of statuses has no such way.',
      message: 'Return status changed.',
      body: v.strictObject({
        status: oneOf(returnStatuses),
        note: said(optional(text(4000)), "Becomes the return's `note`; left out, the note stays."),
      }),
      movesStock: ({ status }) => status === 'completed',
      change: (record: ReturnRecord, { status, note }, now) => moveReturn(record, status, note, now),
    }),
    operation({
      name: 'lines',
      summary: 'Enter what came with a return, and what becomes of it',
      description: `Fires UPDATE_RETURN, and nothing when nothing changed. Possible while the return is \`arrived\` or \`processing\`.

- An entry belongs to the enabled line of its \`sku\` and \`lot\`; else, where one of the two names no lot, to the next line of the \`sku\`, which then has the lot that is known.
- A further lot of an announced product becomes a line of its own, with \`quantity\` 0. A product that was not announced is refused.
- Lines without an entry stay as they are.`,
      conflict: 'the goods are not there, or done with.',
      message: 'Return counted.',
      body: returnLinesSchema,
      change: countReturn,
    }),
  ],
};
