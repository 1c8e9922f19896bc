/** Receivings: `/receivings`, key `eshopReceivingId`, and the warehouse's operations on them. */
import * as v from 'valibot';
import { receivings } from '../../db/records/receivings.ts';
import { oneOf, strictComponent } from '../../domain/fields.ts';
import {
  changeableOnArrival,
  countReceiving,
  moveReceiving,
  receivingEdits,
} from '../../domain/receiving/changes.ts';
import {
  type ReceivingRecord,
  receivingInputSchema,
  receivingLinesSchema,
  receivingRecordSchema,
} from '../../domain/receiving/schema.ts';
import { receivingStatuses, receivingTransitions } from '../../domain/receiving/status.ts';
import { transitionList } from '../describe.ts';
import { countRules, editableAfterArrival, lineRules } from './descriptions.ts';
import { operation } from './operation.ts';
import { timeFilter } from './reads.ts';
import type { Resource } from './resource.ts';

export const receivingResource: Resource<ReceivingRecord> = {
  mapping: receivings,
  listed: '.',
  filter: { status: v.optional(oneOf(receivingStatuses)), ...timeFilter },
  creates: 'Announce',
  late: editableAfterArrival(changeableOnArrival),
  tooLate: 'it has arrived; it is too late for this change.',
  rules: `
- \`eshopReceivingId\`, \`supplier\` and \`products\` are required.${lineRules('products', '`received` is')}
- The quantities of the enabled lines are the products' \`stock.awaiting\` until the receiving is stocked or canceled.`,
  inputSchema: receivingInputSchema,
  recordSchema: receivingRecordSchema,
  ...receivingEdits,
  actions: [
    {
      name: 'cancel',
      summary: 'Cancel a receiving',
      description: 'Possible until the receiving is `received`. Fires UPDATE_RECEIVING_STATUS.',
      conflict: 'it can no longer be canceled.',
      message: 'Receiving canceled.',
      change: (record) => moveReceiving(record, 'canceled'),
    },
  ],
  operations: [
    operation({
      name: 'status',
      summary: 'Change the status of a receiving',
      description: `Fires UPDATE_RECEIVING_STATUS. Any other transition, including to the current status, returns 409.\n\n${transitionList(receivingTransitions)}\n\n\`stocked\` adds the units to the stock: one \`receiving\` movement per enabled line: the counted units, or the announced ones if none were counted.`,
      conflict: 'this transition is not allowed.',
      message: 'Receiving status changed.',
      body: strictComponent('ReceivingStatusInput', { status: oneOf(receivingStatuses) }),
      movesStock: ({ status }) => status === 'stocked',
      change: (record: ReceivingRecord, { status }) => moveReceiving(record, status),
    }),
    operation({
      name: 'lines',
      summary: 'Enter the counts of a receiving',
      description: `Fires UPDATE_RECEIVING, unless nothing changed. Possible while the receiving is \`arrived\` or \`received\`.
${countRules}`,
      conflict: 'the receiving is neither `arrived` nor `received`.',
      message: 'Receiving counted.',
      body: receivingLinesSchema,
      change: countReceiving,
    }),
  ],
};
