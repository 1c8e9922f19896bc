/** Options that name open deliveries for a batch operation. */
import { Option } from 'commander';
import * as v from 'valibot';
import { eventTypeNames } from '../domain/event-types.ts';
import { SEARCHABLE } from '../temporal/operator-questions.ts';
import { eshopSchema, time, webhookNumber } from './options.ts';

const STATES = ['retrying', 'held'] as const;

export const bulkOptions = () => [
  new Option('--eshop <id>', 'all open ones of this e-shop'),
  new Option('--webhook <id>', 'to this webhook'),
  new Option('--receiver <host>', 'to this host, with or without a port'),
  new Option('--type <type>', 'of this event type, such as CREATE_ORDER'),
  new Option('--order <id>', 'about this order or other record'),
  new Option('--state <state>', STATES.join(', ')),
  new Option('--since <time>', 'created at this time or later'),
  new Option('--until <time>', 'created before this time'),
  new Option('--dry-run', 'only count the deliveries'),
];
export const bulkSchema = v.object({
  eshop: v.optional(eshopSchema.entries.eshop),
  webhook: v.optional(webhookNumber('--webhook')),
  receiver: v.optional(v.pipe(v.string(), v.minLength(1, '--receiver must not be empty.'))),
  type: v.optional(v.picklist(eventTypeNames, '--type must be an event type, such as CREATE_ORDER.')),
  order: v.optional(
    v.pipe(v.string(), v.regex(SEARCHABLE, '--order must not contain quotation marks or backslashes.')),
  ),
  state: v.optional(
    v.picklist(STATES, `--state must be ${STATES.join(' or ')}: deliveries in other states have ended.`),
  ),
  since: v.optional(time('--since')),
  until: v.optional(time('--until')),
  dryRun: v.optional(v.literal(true)),
});
export type BulkOptions = Omit<v.InferOutput<typeof bulkSchema>, 'dryRun'>;

export function isNamed({
  eshop,
  webhook,
  receiver,
  type,
  order,
  state,
  since,
  until,
}: BulkOptions): boolean {
  return [eshop, webhook, receiver, type, order, state, since, until].some((each) => each !== undefined);
}
