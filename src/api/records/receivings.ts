/**
 * Receivings: `/receivings`, key `eshopReceivingId`, and what the warehouse does to them.
 * @module
 */
import * as v from 'valibot';
import { receivings } from '../../db/records/receivings.ts';
import { oneOf } from '../../domain/fields.ts';
import {
  changeableOnArrival,
  countReceiving,
  moveReceiving,
  receivingEdits,
  skusInReceiving,
} from '../../domain/receiving/changes.ts';
import {
  type ReceivingRecord,
  receivingInputSchema,
  receivingLinesSchema,
  receivingRecordSchema,
} from '../../domain/receiving/schema.ts';
import { receivingStatuses, receivingTransitions } from '../../domain/receiving/status.ts';
import { waysOf } from '../describe.ts';
import { operation } from './operation.ts';
import { timeFilter } from './reads.ts';
import type { Resource } from './resource.ts';
import { lateOnArrival } from './words.ts';

/** Receivings. */
export const receivingResource: Resource<ReceivingRecord> = {
  family: receivings,
  tag: 'Receivings',
  listed: '.',
  filter: { status: v.optional(oneOf(receivingStatuses)), ...timeFilter },
  creates: 'Announce',
  late: lateOnArrival(changeableOnArrival),
  tooLate: 'it has arrived: too late for this change.',
  rules: `
- \`eshopReceivingId\`, \`supplier\` and \`products\` are required.
- A line is known by its \`sku\` and \`lot\`: a product stands once per lot. Every \`sku\` is a product of the e-shop, every \`quantity\` greater than 0.
- A line that an update of \`products\` leaves out stays, with \`lineState\` D; sent again, it is E again. A line sent with \`lineState\` D counts as left out, so that a record read can be put back. \`received\` is the warehouse's and ignored.
- What the enabled lines announce is the products' \`stock.awaiting\` until the receiving is stocked or canceled.`,
  inputSchema: receivingInputSchema,
  recordSchema: receivingRecordSchema,
  skusIn: skusInReceiving,
  ...receivingEdits,
  actions: [
    {
      name: 'cancel',
      summary: 'Cancel a receiving',
      description: 'Possible until it is received. Fires UPDATE_RECEIVING_STATUS.',
      conflict: 'it can no longer be canceled.',
      message: 'Receiving canceled.',
      change: (record) => moveReceiving(record, 'canceled'),
    },
  ],
  operations: [
    operation({
      name: 'status',
      summary: 'Change the status of a receiving',
      description: `Fires UPDATE_RECEIVING_STATUS. Any way that is not in this table answers 409, staying included:\n\n${waysOf(receivingTransitions)}\n\n\`stocked\` brings the units into the stock, one \`receiving\` movement per enabled line: of the units counted, or of those announced where none were.`,
      conflict: 'the table of statuses has no such way.',
      message: 'Receiving status changed.',
      body: v.strictObject({ status: oneOf(receivingStatuses) }),
      movesStock: ({ status }) => status === 'stocked',
      change: (record: ReceivingRecord, { status }) => moveReceiving(record, status),
    }),
    operation({
      name: 'lines',
      summary: 'Enter what was counted of a receiving',
      description: `Fires UPDATE_RECEIVING, and nothing when nothing changed. Possible while the receiving is \`arrived\` or \`received\`.

- An entry belongs to the enabled line of its \`sku\` and \`lot\`; else, where one of the two names no lot, to the next line of the \`sku\`, which then has the lot that is known.
- A further lot of an announced product becomes a line of its own, with \`quantity\` 0. A product that was not announced is refused.
- Lines without an entry stay as they are.`,
      conflict: 'the goods are not there, or stocked already.',
      message: 'Receiving counted.',
      body: receivingLinesSchema,
      change: countReceiving,
    }),
  ],
};
