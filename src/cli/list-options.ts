/** Options of the commands that list webhooks and deliveries of all e-shops. */
import { Option } from 'commander';
import * as v from 'valibot';
import { eventTypeNames } from '../domain/event-types.ts';
import { eshopSchema } from './eshop-option.ts';

/** The most rows of a list: what is looked for among more is filtered first. */
const MOST_LISTED = 1_000;

/** The option that bounds a list. */
export const limitOption = () =>
  new Option('--limit <n>', `how many to list, up to ${MOST_LISTED}`).default('50');
/** What it becomes. */
export const limitSchema = v.pipe(
  v.string(),
  v.check(
    (text) => /^[1-9]\d*$/.test(text) && Number(text) <= MOST_LISTED,
    `--limit must be an integer from 1 to ${MOST_LISTED}.`,
  ),
  v.transform(Number),
);

/** The options that both lists have. */
export const listOptions = () => [
  new Option('--eshop <id>', 'only of this e-shop'),
  new Option('--type <type>', 'only of this event type, such as CREATE_ORDER'),
  new Option('--receiver <host>', 'only to this host, with or without a port'),
  limitOption(),
];
/** What they become. */
export const listSchema = v.object({
  eshop: v.optional(eshopSchema.entries.eshop),
  type: v.optional(v.picklist(eventTypeNames, '--type must be an event type, such as CREATE_ORDER.')),
  receiver: v.optional(v.pipe(v.string(), v.minLength(1, '--receiver must not be empty.'))),
  limit: limitSchema,
});
