/**
 * Returns: `/returns`, key `eshopReturnId`, and what the warehouse does to them.
 * @module
 */
import * as v from 'valibot';
import { changeReturn, createReturn, listReturns, readReturn } from '../db/records/returns.ts';
import { returnEntry } from '../domain/catalogue.ts';
import { oneOf, optional, said, text } from '../domain/fields.ts';
import {
  countReturn,
  moveReturn,
  newReturn,
  patchReturn,
  replaceReturn,
  returnChangeableOnArrival,
  skusInReturn,
} from '../domain/return/changes.ts';
import { type ReturnRecord, returnInputSchema, returnLinesSchema } from '../domain/return/schema.ts';
import { type ReturnStatus, returnStatuses, returnTransitions } from '../domain/return/status.ts';
import type { Announcement, WarehouseOperation } from './announcements.ts';
import { waysOf } from './describe.ts';

/** The resource. */
export const returns: Announcement<ReturnStatus, ReturnRecord> = {
  entry: returnEntry,
  tag: 'Returns',
  statuses: returnStatuses,
  inputSchema: returnInputSchema,
  rules: `
- \`eshopReturnId\` and \`returnedOrderProducts\` are required.
- A line is known by its \`sku\` and \`lot\`: a product stands once per lot. Every \`sku\` is a product of the e-shop, every \`quantity\` greater than 0.
- A line that an update of \`returnedOrderProducts\` leaves out stays, with \`lineState\` D; sent again, it is E again. A line sent with \`lineState\` D counts as left out, so that a record read can be put back. \`received\` and \`resolution\` are the warehouse's and ignored.`,
  changeable: returnChangeableOnArrival,
  cancelable: 'while it is awaited',
  skusIn: skusInReturn,
  make: newReturn,
  replace: replaceReturn,
  patch: patchReturn,
  cancel: (record, now) => moveReturn(record, 'canceled', null, now),
  list: listReturns,
  read: readReturn,
  create: createReturn,
  update: changeReturn,
};

const statusBody = v.strictObject({
  status: oneOf(returnStatuses),
  note: said(optional(text(4000)), "Becomes the return's `note`; left out, the note stays."),
});

/** The warehouse moves a return on. */
export const returnStatus: WarehouseOperation<ReturnRecord, typeof statusBody> = {
  name: 'status',
  summary: 'Change the status of a return',
  description: `Fires UPDATE_RETURN_STATUS. Any way that is not in this table answers 409, staying included:\n\n${waysOf(returnTransitions)}\n\n\`arrived\` sets \`receivedAt\`, \`completed\` sets \`confirmedAt\` and brings units back into the stock: one \`return\` movement per enabled line whose \`resolution\` is returnToInventory or null, of the units counted, or of those announced where none were.`,
  conflict: 'the table of statuses has no such way.',
  message: 'Return status changed.',
  body: statusBody,
  change: (record, { status, note }, now) => moveReturn(record, status, note, now),
};

/** The warehouse counts a return. */
export const returnLines: WarehouseOperation<ReturnRecord, typeof returnLinesSchema> = {
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
};
