/** Options that select open deliveries for a bulk action. */
import * as v from 'valibot';
import { flag, option } from '../lib/command-line.ts';
import { SEARCHABLE } from '../temporal/operator-questions.ts';
import { eshopNumber, eventType, MAX_UNASKED, nonEmptyText, time, webhookNumber } from './options.ts';

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
  eshop: option('--eshop <id>', 'all open ones of this e-shop', v.optional(eshopNumber)),
  webhook: option('--webhook <id>', 'to this webhook', v.optional(webhookNumber('--webhook'))),
  receiver: option(
    '--receiver <host>',
    'to this host, with or without a port',
    v.optional(nonEmptyText('--receiver')),
  ),
  type: option('--type <type>', 'of this event type, such as CREATE_ORDER', v.optional(eventType)),
  order: option('--order <id>', 'about this order or other record', v.optional(order)),
  state: option('--state <state>', STATES.join(', '), v.optional(state)),
  since: option(
    '--since <time>',
    'whose workflow started at this time or later; in the queue: created then',
    v.optional(time('--since')),
  ),
  until: option(
    '--until <time>',
    'whose workflow started before this time; in the queue: created before',
    v.optional(time('--until')),
  ),
  dryRun: flag('--dry-run', 'only count the deliveries'),
  yes: flag('--yes', `give-up: also more than ${MAX_UNASKED.toLocaleString('en-US')}`),
});
export type BulkOptions = Omit<v.InferOutput<typeof bulkOptions>, 'dryRun' | 'yes'>;
