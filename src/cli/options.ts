/** Options and values shared by several commands. */
import { userInfo } from 'node:os';
import * as v from 'valibot';
import { eventTypeNames } from '../domain/event-types.ts';
import { Problem } from '../domain/problem.ts';
import { parseTimestamp } from '../domain/timestamp.ts';
import { argument, flag, option, optional, requiredOption, wholeNumber } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';

const number = (message: string) =>
  v.pipe(v.string(), v.regex(/^[1-9]\d{0,8}$/, message), v.transform(Number));

export const eshopNumber = number('--eshop must be the number of an e-shop; waybill eshop list shows them.');
export const eshopOption = requiredOption('--eshop <id>', 'number of the e-shop', eshopNumber);
export const oneEshop = v.object({ eshop: eshopOption });

/** For a command that repairs or removes things. */
export const dryRunOption = v.object({ dryRun: flag('--dry-run', 'only report what would be done') });

/** For creating and changing an e-shop. */
export const name = v.pipe(v.string(), v.trim(), v.minLength(1, '--name must not be empty.'));
export const email = v.pipe(v.string(), v.rfcEmail('--email must be an e-mail address.'));

/** The maximum number of rows of a list: to search among more, filter it. */
const MAX_LISTED = 1_000;

export const limitOption = option(
  '--limit <n>',
  `how many to list, up to ${MAX_LISTED}`,
  wholeNumber(MAX_LISTED),
  '50',
);

/** A line below a list that is as long as its limit; empty below a shorter one. */
export const limitNote = (listed: number, limit: number) =>
  listed < limit ? '' : `\nThese are the first ${limit}; there may be more: use --limit, or a filter.`;

export const eventType = v.picklist(eventTypeNames, '--type must be an event type, such as CREATE_ORDER.');
/** For a test or an examination of a webhook. */
export const testedType = optional(
  '--type <type>',
  'event type of the samples, one of those of the webhook; default: its main one',
  eventType,
);
export const nonEmptyText = (name: string) =>
  v.pipe(v.string(), v.minLength(1, `${name} must not be empty.`));
export const text = (maximum: number) => (name: string) =>
  v.optional(
    v.pipe(v.string(), v.trim(), v.maxLength(maximum, `${name} must have at most ${maximum} characters.`)),
  );

export const listOptions = {
  eshop: optional('--eshop <id>', 'only of this e-shop', eshopNumber),
  type: optional('--type <type>', 'only of this event type, such as CREATE_ORDER', eventType),
  receiver: optional('--receiver <host>', 'only to this host, with or without a port', nonEmptyText),
  limit: limitOption,
};

/**
 * A date or a time, as `deliveries list` prints it or in ISO 8601; UTC without an offset. Other forms are refused:
 * `Date.parse` puts a time without a year into 2001, and a bulk action since then would concern all deliveries.
 */
export const time = (name: string) =>
  v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const written = dataset.value.replace(' ', 'T');
      const read =
        parseTimestamp(written) ?? parseTimestamp(`${written}Z`) ?? parseTimestamp(`${written}T00Z`);
      if (read !== null) return read;
      addIssue({ message: `${name} must be a time such as 2026-11-20 or 2026-11-20T19:33:00Z.` });
      return NEVER;
    }),
  );

export const webhookNumber = (name: string) => number(`${name} must be the number of a webhook.`);
export const webhookId = argument('<id>', 'its number', webhookNumber);
export const oneWebhook = v.object({ id: webhookId });
export const someWebhooks = v.object({
  ids: argument('<ids...>', 'their numbers', (name) => v.array(webhookNumber(name))),
});

/** "a, b" → `a` and `b` */
export const separated = (text: string) => text.split(',').map((part) => part.trim());

/** @param noun what the number identifies, for the message */
export const idOf = (noun: string) =>
  v.pipe(v.string(), v.uuid(`<id> must be the id of a ${noun}.`), v.toLowerCase());

export const noSuchWebhook = (id: number) => new UserError(`There is no webhook ${id}.`);

/** Turns a refusal by the service into an error for people: a sentence. */
export function throwUserError(error: unknown, exitCode = 1): never {
  throw error instanceof Problem ? new UserError(error.message.replace(/[^.]$/, '$&.'), exitCode) : error;
}

/** For a command that cannot be undone: it needs a confirmation, or only reports. */
export const confirmationOptions = {
  dryRun: flag('--dry-run', 'only say what would be done'),
  yes: flag('--yes', 'do it; this cannot be undone'),
};
const SURE = 'This cannot be undone. Use --dry-run to see what it would do, and --yes to do it.';

/**
 * @returns whether it only reports
 * @throws UserError unless exactly one of the two is given
 */
export function isDryRun({ dryRun, yes }: { dryRun: boolean; yes: boolean }): boolean {
  if (dryRun === yes) throw new UserError(SURE);
  return dryRun;
}

/**
 * How many open deliveries a webhook may have when it is deactivated, or how many may be given up at once, without
 * `--yes`. Too low: scripts need it for everyday work. Too high: a wrong number holds back or ends that many.
 */
export const MAX_UNASKED_DELIVERIES = 1_000;

export const yesOrNo = (name: string) =>
  v.pipe(
    v.picklist(['yes', 'no'], `${name} must be yes or no.`),
    v.transform((text) => text === 'yes'),
  );

/** The user account on this machine; empty if it has no name. */
export function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER ?? '';
  }
}
