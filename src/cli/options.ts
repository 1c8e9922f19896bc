/** Options and values that several commands share. */

import { userInfo } from 'node:os';
import { Option } from 'commander';
import * as v from 'valibot';
import { eventTypeNames } from '../domain/event-types.ts';
import { jsonSchema, whole } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';

export const eshopOption = () => new Option('--eshop <id>', 'number of the e-shop').makeOptionMandatory();
export const eshopSchema = v.object({
  eshop: v.pipe(
    v.string(),
    v.regex(/^[1-9]\d{0,8}$/, '--eshop must be the number of an e-shop; waybill eshop list shows them.'),
    v.transform(Number),
  ),
});

/** `--eshop` and `--json`. */
export const oneEshopSchema = v.object({ ...jsonSchema.entries, ...eshopSchema.entries });
/** `--dry-run` and `--json`. */
export const dryRunSchema = v.object({ ...jsonSchema.entries, dryRun: v.optional(v.literal(true)) });

/** The options that an e-shop is created and changed with. */
export const name = v.pipe(v.string(), v.trim(), v.minLength(1, '--name must not be empty.'));
export const email = v.pipe(v.string(), v.email('--email must be an e-mail address.'));

/** The most rows of a list: what is looked for among more is filtered first. */
const MAX_LISTED = 1_000;

export const limitOption = () =>
  new Option('--limit <n>', `how many to list, up to ${MAX_LISTED}`).default('50');
export const limitSchema = whole('limit', MAX_LISTED);

export const listOptions = () => [
  new Option('--eshop <id>', 'only of this e-shop'),
  new Option('--type <type>', 'only of this event type, such as CREATE_ORDER'),
  new Option('--receiver <host>', 'only to this host, with or without a port'),
  limitOption(),
];
export const listSchema = v.object({
  eshop: v.optional(eshopSchema.entries.eshop),
  type: v.optional(v.picklist(eventTypeNames, '--type must be an event type, such as CREATE_ORDER.')),
  receiver: v.optional(v.pipe(v.string(), v.minLength(1, '--receiver must not be empty.'))),
  limit: limitSchema,
});

/** @param name of the option, for the message */
export const time = (name: string) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => !Number.isNaN(Date.parse(text)),
      `${name} must be a time such as 2026-11-20 or 2026-11-20T19:33:00Z.`,
    ),
    v.transform((text) => new Date(text)),
  );

/** @param name of the option or argument, for the message */
export const webhookNumber = (name: string) =>
  v.pipe(
    v.string(),
    v.regex(/^[1-9]\d{0,8}$/, `${name} must be the number of a webhook.`),
    v.transform(Number),
  );

export const noSuchWebhook = (id: number) => new UserError(`There is no webhook ${id}.`);

/** Of a command that cannot be undone: it wants to be sure, or only looks. */
export const sureOptions = () => [
  new Option('--dry-run', 'only say what would be done'),
  new Option('--yes', 'do it: it cannot be undone'),
];
const SURE = 'This cannot be undone: --dry-run says what it would do, and --yes does it.';
export const sureEntries = {
  dryRun: v.optional(v.literal(true)),
  yes: v.optional(v.literal(true)),
};

/**
 * @returns whether it only looks
 * @throws UserError unless exactly one of the two is given
 */
export function onlyLooks({
  dryRun = false,
  yes = false,
}: {
  dryRun?: boolean | undefined;
  yes?: boolean | undefined;
}): boolean {
  if (dryRun === yes) throw new UserError(SURE);
  return dryRun;
}

/** @param option its name, for the message */
export const yesOrNo = (option: string) =>
  v.pipe(
    v.picklist(['yes', 'no'], `${option} must be yes or no.`),
    v.transform((text) => text === 'yes'),
  );

/** The account on this machine; empty where it has no name. */
export function account(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER ?? '';
  }
}
