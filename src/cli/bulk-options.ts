/** Options that select open deliveries for a bulk action. */
import * as v from 'valibot';
import { flag, optional } from '../lib/command-line.ts';
import { SEARCHABLE } from '../temporal/operator-questions.ts';
import {
  eshopNumber,
  eventType,
  MAX_UNASKED_DELIVERIES,
  nonEmptyText,
  time,
  webhookNumber,
} from './options.ts';

const STATES = ['retrying', 'held'] as const;
const order = v.pipe(
  v.string(),
  v.regex(SEARCHABLE, '--order must not contain quotation marks or backslashes.'),
);
const state = v.picklist(
  STATES,
  `--state must be ${STATES.join(' or ')}: deliveries in other states have ended.`,
);

export const bulkOptions = v.object({
  eshop: optional('--eshop <id>', 'all open ones of this e-shop', eshopNumber),
  webhook: optional('--webhook <id>', 'to this webhook', webhookNumber),
  receiver: optional('--receiver <host>', 'to this host, with or without a port', nonEmptyText),
  type: optional('--type <type>', 'of this event type, such as CREATE_ORDER', eventType),
  order: optional('--order <id>', 'about this order or other record', order),
  state: optional('--state <state>', STATES.join(', '), state),
  since: optional(
    '--since <time>',
    'whose workflow started at this time or later; in the queue: created then',
    time,
  ),
  until: optional(
    '--until <time>',
    'whose workflow started before this time; in the queue: created before',
    time,
  ),
  dryRun: flag('--dry-run', 'only count the deliveries'),
  yes: flag('--yes', `give-up: also more than ${MAX_UNASKED_DELIVERIES.toLocaleString('en-US')}`),
});
export type BulkOptions = Omit<v.InferOutput<typeof bulkOptions>, 'dryRun' | 'yes'>;
