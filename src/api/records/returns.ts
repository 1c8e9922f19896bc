/** Returns: `/returns`, key `eshopReturnId`, and the warehouse's operations on them. */
import * as v from 'valibot';
import { returns } from '../../db/records/returns.ts';
import { described, oneOf, optional, strictComponent, text } from '../../domain/fields.ts';
import {
  countReturn,
  moveReturn,
  returnChangeableOnArrival,
  returnEdits,
} from '../../domain/return/changes.ts';
import {
  type ReturnRecord,
  returnInputSchema,
  returnLinesSchema,
  returnRecordSchema,
} from '../../domain/return/schema.ts';
import { returnStatuses, returnTransitions } from '../../domain/return/status.ts';
import { transitionList } from '../describe.ts';
import { countRules, editableAfterArrival, lineRules } from './descriptions.ts';
import { operation } from './operation.ts';
import { timeFilter } from './reads.ts';
import type { Resource } from './resource.ts';

export const returnResource: Resource<ReturnRecord> = {
  mapping: returns,
  listed: '.',
  filter: { status: v.optional(oneOf(returnStatuses)), ...timeFilter },
  creates: 'Announce',
  late: editableAfterArrival(returnChangeableOnArrival),
  tooLate: 'it has arrived; it is too late for this change.',
  rules: `
- \`eshopReturnId\` and \`returnedOrderProducts\` are required.${lineRules('returnedOrderProducts', '`received` and `resolution` are')}`,
  inputSchema: returnInputSchema,
  recordSchema: returnRecordSchema,
  ...returnEdits,
  actions: [
    {
      name: 'cancel',
      summary: 'Cancel a return',
      description: 'Possible while the return is `awaiting`. Fires UPDATE_RETURN_STATUS.',
      conflict: 'it can no longer be canceled.',
      message: 'Return canceled.',
      change: (record, now) => moveReturn(record, 'canceled', null, now),
    },
  ],
  operations: [
    operation({
      name: 'status',
      summary: 'Change the status of a return',
      description: `Fires UPDATE_RETURN_STATUS, and UPDATE_RETURN too if the \`note\` changes. Any other transition, including to the current status, returns 409.\n\n${transitionList(returnTransitions)}\n\n\`arrived\` sets \`receivedAt\`, \`completed\` sets \`confirmedAt\` and adds units to the stock: one \`return\` movement per enabled line whose \`resolution\` is returnToInventory or null, of the counted units, or of the announced ones if none were counted.`,
      conflict: 'this transition is not allowed.',
      message: 'Return status changed.',
      body: strictComponent('ReturnStatusInput', {
        status: oneOf(returnStatuses),
        note: described(optional(text(4000)), "Replaces the return's `note`; if left out, the note stays."),
      }),
      movesStock: ({ status }) => status === 'completed',
      change: (record: ReturnRecord, { status, note }, now) => moveReturn(record, status, note, now),
    }),
    operation({
      name: 'lines',
      summary: 'Enter the counts of a return, and the resolutions',
      description: `Fires UPDATE_RETURN, unless nothing changed. Possible while the return is \`arrived\` or \`processing\`.
${countRules}`,
      conflict: 'the return is neither `arrived` nor `processing`.',
      message: 'Return counted.',
      body: returnLinesSchema,
      change: countReturn,
    }),
  ],
};
